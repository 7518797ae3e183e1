"""Lets go of what a holder holds, in place: as many items, under the same keys, without their memory. Sealed child only.

A container that is emptied would end a program that takes the mean of its last twenty items.
"""

from __future__ import annotations

import traceback
from collections import deque
from typing import Any

import torch

from firstcause.lab.reaching import CACHED, CONTAINERS, steps

MOST_OBJECTS = 100_000


def hollow(value: Any, kind: str) -> Any:
    """Cut graphs (``kind`` is "graph"), end kept frames ("frames"), or take the values out; what stands in its place."""
    return _Hollow(kind).of(value)


class _Hollow:
    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.seen: set[int] = set()

    def of(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        kind = type(value)
        if id(value) in self.seen or len(self.seen) > MOST_OBJECTS:
            return value
        self.seen.add(id(value))
        if issubclass(kind, BaseException):
            self._frames(value)
        elif kind is CACHED:
            value.cache_clear()
        elif issubclass(kind, dict):
            for key, held in list(value.items()):
                value[key] = self.of(held)
        elif issubclass(kind, (list, deque)):
            for i, held in enumerate(list(value)):
                value[i] = self.of(held)
        elif issubclass(kind, tuple):
            return self._tuple(value)
        elif issubclass(kind, (set, frozenset)):
            if self.kind == "values" and hasattr(value, "clear"):
                value.clear()
        elif self.kind == "values" and kind in (bytes, str, bytearray):
            return kind()
        elif self.kind == "values" and kind.__module__ == "numpy" and kind.__name__ == "ndarray":
            return _thin_array(value)
        else:
            self._object(value)
        return value

    def _tensor(self, value: torch.Tensor) -> torch.Tensor:
        if isinstance(value, torch.nn.Parameter):
            return value
        if self.kind == "values" and value.grad_fn is None:
            return torch.zeros((), dtype=value.dtype, device=value.device).expand(value.shape)
        return value.detach() if value.grad_fn is not None else value

    def _tuple(self, value: Any) -> Any:
        held = [self.of(v) for v in value]
        if all(a is b for a, b in zip(held, value, strict=True)):
            return value
        return type(value)(*held) if hasattr(value, "_fields") else type(value)(held)

    def _object(self, value: Any) -> None:
        for step in list(steps(value)):
            if step.name is None and not issubclass(type(step.value), (*CONTAINERS, dict)):
                continue
            then = self.of(step.value)
            if then is not step.value and step.name is not None:
                try:
                    setattr(value, step.name, then)
                except (AttributeError, TypeError):
                    # What cannot be set keeps its value; the growth then does not end, which is said.
                    continue

    def _frames(self, error: BaseException | None) -> None:
        met: set[int] = set()
        while error is not None and id(error) not in met:
            met.add(id(error))
            traceback.clear_frames(error.__traceback__)
            error = error.__context__


def _thin_array(value: Any) -> Any:
    import numpy as np

    return np.broadcast_to(np.zeros((), dtype=value.dtype), value.shape)
