"""A step's inputs in single numbers, each with a name that a person understands; in a sealed child only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch

# Tensors of one step, and elements of one, that are looked at.
MOST_TENSORS, MOST_ELEMENTS, DEEP = 16, 4_000_000, 3


def tensors_of(values: Mapping[str, Any]) -> dict[str, tuple[int, torch.Tensor]]:
    """Every tensor that the names reach, and every list of numbers as one, by its path; with the object's identity."""
    found: dict[str, tuple[int, torch.Tensor]] = {}
    for name, value in values.items():
        for path, number, tensor in _tensors(name, value, DEEP):
            if len(found) < MOST_TENSORS and all(number != known for known, _ in found.values()):
                found[path] = (number, tensor)
    return found


def properties(tensors: Mapping[str, tuple[int, torch.Tensor]]) -> dict[str, float]:
    """Sizes, ranges and shares of each tensor, as ``x: least value``."""
    return {
        f"{path}: {what}": number
        for path, (_, tensor) in tensors.items()
        for what, number in _of(tensor.detach())
    }


def _tensors(path: str, value: Any, depth: int) -> Iterator[tuple[str, int, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield path, id(value), value
    elif isinstance(value, torch.nn.Module) or not depth:
        return
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _tensors(f"{path}[{key!r}]", one, depth - 1)
    elif type(value) in (list, tuple) and value and all(type(v) in (int, float) for v in value):
        yield path, id(value), torch.tensor(value)
    elif type(value) in (list, tuple):
        for number, one in enumerate(value[:MOST_TENSORS]):
            yield from _tensors(f"{path}[{number}]", one, depth - 1)


def _of(tensor: torch.Tensor) -> Iterator[tuple[str, float]]:
    yield from ((f"size of axis {n}", float(size)) for n, size in enumerate(tensor.shape))
    plain = tensor.layout is torch.strided and tensor.device.type != "meta" and not tensor.is_complex()
    if not plain or not 0 < tensor.numel() <= MOST_ELEMENTS:
        return
    wide = tensor.double()
    finite = torch.isfinite(wide)
    yield "values that are not finite", float((~finite).sum())
    if not bool(finite.all()):
        wide = torch.where(finite, wide, torch.zeros_like(wide))
    yield "least value", float(wide.min())
    yield "largest value", float(wide.max())
    yield "share of zeros", float((wide == 0).double().mean())
    if not tensor.is_floating_point():
        yield "different values", float(tensor.unique().numel())
    rows = wide.reshape(len(wide), -1) if wide.dim() > 1 else None
    if rows is not None and rows.shape[1] > 1:
        yield "least sum of a row", float(rows.abs().sum(1).min())
        yield "largest sum of a row", float(rows.abs().sum(1).max())
        yield "least spread of a row", float((rows.max(1).values - rows.min(1).values).min())
        yield "most zeros in a row", float((rows == 0).sum(1).max())
