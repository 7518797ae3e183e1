"""How many bytes are alive on the emulated device, and how many there were at most: by storage, as its tensors come and go."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from firstcause.check.dry.child.names import NAME

now = 0
most = 0
# By storage: its bytes, and how many tensors share it.
_alive: dict[int, list[int]] = {}


def see(out: Any) -> None:
    """What an operator has given."""
    for tensor in out if isinstance(out, (tuple, list)) else (out,):
        if type(tensor) is FakeTensor and tensor.fake_device.type == NAME and tensor.layout == torch.strided:
            _add(tensor)


def _add(tensor: Any) -> None:
    global now, most
    storage = tensor.untyped_storage()
    key = storage._cdata
    held = _alive.get(key)
    if held is None:
        held = _alive[key] = [storage.nbytes(), 0]
        now += held[0]
        most = max(most, now)
    held[1] += 1
    weakref.finalize(tensor, _gone, key)


def _gone(key: int) -> None:
    global now
    held = _alive[key]
    held[1] -= 1
    if not held[1]:
        now -= held[0]
        del _alive[key]


def has(tensor: torch.Tensor) -> bool:
    """Whether a tensor's bytes are among those that are counted."""
    return tensor.untyped_storage()._cdata in _alive


def phase() -> int:
    """The most since the last call; counted anew from here."""
    global most
    peak, most = most, now
    return peak
