"""The data that a training reads again and again: tensors and arrays of its datasets and of the functions that run."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch
from torch.utils.data import DataLoader

from firstcause.lab import places

DEPTH, ITEMS = 4, 4000
LEAST_ELEMENTS, MOST_ELEMENTS = 16, 20_000_000


@dataclass
class Stored:
    """One stored value: where it lies in memory, what it held at first, and whether that is data at all."""

    value: Any
    name: str
    start: int
    end: int
    first: Any = field(repr=False)

    def changed(self) -> float:
        """The share of its elements that differ from what they were."""
        now = _tensor(self.value)
        differs = (now != self.first) & ~((now != now) & (self.first != self.first))
        return float(differs.float().mean())

    def restore(self) -> None:
        """What it held at first, without a word to autograd, which counts writes."""
        _tensor(self.value).copy_(self.first)


def loaders() -> list[Any]:
    """Every DataLoader that lives."""
    return [o for o in gc.get_objects() if issubclass(type(o), DataLoader) and "dataset" in vars(o)]


def size(value: Any) -> float:
    """The root mean square of a value."""
    return float(_tensor(value).double().square().mean().sqrt())


def find(frame: FrameType | None) -> list[Stored]:
    """Everything stored that loaders and the program's running functions hold, in the order in which it lies in memory."""
    found: dict[int, Stored] = {}
    seen: set[int] = set()
    roots: list[tuple[str, Any]] = [("dataset", one.dataset) for one in loaders()]
    outermost: dict[str, Any] = {}
    for user in places.user_frames(frame):
        roots += user.f_locals.items()
        outermost = user.f_globals
    roots += [(k, v) for k, v in outermost.items() if not k.startswith("_")]
    left = MOST_ELEMENTS
    for name, root in roots:
        for path, value in _within(root, name, DEPTH, seen):
            held = _tensor(value)
            start = held.untyped_storage().data_ptr()
            if start and start not in found and held.numel() <= left and _is_data(held):
                left -= held.numel()
                size = held.untyped_storage().nbytes()
                found[start] = Stored(value, path, start, start + size, held.clone())
    return sorted(found.values(), key=lambda s: s.start)


def _is_data(held: torch.Tensor) -> bool:
    """Filled already: an empty buffer is one that is filled as the training goes on."""
    rows = held.reshape(len(held), -1)
    return float((rows != 0).any(dim=1).float().mean()) > 0.5


def _within(value: Any, name: str, depth: int, seen: set[int]) -> Iterator[tuple[str, Any]]:
    if id(value) in seen or isinstance(value, (str, bytes, int, float, type(None), type)):
        return
    seen.add(id(value))
    if _holds(value):
        yield name, value
        return
    if not depth or isinstance(value, (torch.nn.Module, torch.optim.Optimizer, torch.Tensor)):
        return
    if isinstance(value, DataLoader):
        yield from _within(value.dataset, f"{name}.dataset", depth - 1, seen)
    elif isinstance(value, dict):
        for key, one in list(value.items())[:ITEMS]:
            yield from _within(one, f"{name}[{key!r}]", depth - 1, seen)
    elif isinstance(value, (list, tuple)):
        for number, one in enumerate(value[:ITEMS]):
            yield from _within(one, f"{name}[{number}]", depth - 1, seen)
    elif hasattr(value, "__dict__") and hasattr(type(value), "__getitem__"):
        for key, one in list(vars(value).items()):
            yield from _within(one, f"{name}.{key}", depth - 1, seen)


def _holds(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        plain = value.layout is torch.strided and value.device.type == "cpu" and not value.requires_grad
        shape, kept = value.shape, plain and not isinstance(value, torch.nn.Parameter)
    elif type(value).__module__ == "numpy" and type(value).__name__ == "ndarray":
        shape, kept = (
            value.shape,
            value.dtype.kind in "fiu" and value.flags.writeable and value.dtype.isnative,
        )
    else:
        return False
    elements = 1
    for size in shape:
        elements *= size
    return bool(kept) and len(shape) > 0 and LEAST_ELEMENTS <= elements <= MOST_ELEMENTS


def _tensor(value: Any) -> torch.Tensor:
    """A view of the value that has a count of writes of its own."""
    return value.data if isinstance(value, torch.Tensor) else torch.from_numpy(value)
