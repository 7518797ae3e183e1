"""A training's samples in random order, whatever order it reads them in. Sealed child only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils.data import SequentialSampler

# A slice of more than this share of a tensor is no batch of it; a tensor of fewer rows is none of samples.
SHARE, ROWS = 0.5, 32
SPLITS = ("split", "chunk", "tensor_split")


def is_batch_slice(args: tuple[Any, ...]) -> bool:
    """Whether a subscript takes a batch of consecutive rows of stored data."""
    if len(args) < 2 or not isinstance(args[0], torch.Tensor):
        return False
    key = args[1][0] if isinstance(args[1], tuple) and args[1] else args[1]
    if not isinstance(key, slice) or not isinstance(key.start, int) or not isinstance(key.stop, int):
        return False
    return (
        key.step is None
        and 0 <= key.start < key.stop
        and _is_stored(args[0])
        and key.stop - key.start <= SHARE * len(args[0])
    )


def is_split(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call divides stored data, or the numbers of its rows, into batches."""
    along = kwargs.get("dim", args[2] if len(args) > 2 else 0)
    return (
        name in SPLITS
        and bool(args)
        and isinstance(args[0], torch.Tensor)
        and along == 0
        and _is_stored(args[0])
    )


def _is_stored(value: torch.Tensor) -> bool:
    return value.dim() > 0 and len(value) >= ROWS and not value.requires_grad


class Shuffled(TorchFunctionMode):
    """Sequential samplers, slices and splits of stored tensors give other rows in each pass; rows of a length stay together.

    Passes before the one with the number ``since``, counted from 1, are left in order.
    """

    def __init__(self, since: int = 1) -> None:
        super().__init__()
        self.since = since
        self.passes: dict[int, int] = {}
        self.known: dict[tuple[int, int], torch.Tensor] = {}
        numbers = self._numbers

        def order(sampler: Any) -> Iterator[int]:
            self.passes[id(sampler)] = self.passes.get(id(sampler), 0) + 1
            return iter(numbers(len(sampler.data_source), self.passes[id(sampler)]).tolist())

        SequentialSampler.__iter__ = order

    def _numbers(self, rows: int, number: int) -> torch.Tensor:
        """The order of one pass: a generator of its own leaves the program's random numbers as they are."""
        if number < self.since:
            return torch.arange(rows)
        if (rows, number) not in self.known:
            generator = torch.Generator().manual_seed(1000 * number + rows)
            self.known[rows, number] = torch.randperm(rows, generator=generator)
        return self.known[rows, number]

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = str(getattr(func, "__name__", "")).strip("_"), kwargs or {}
        if name == "getitem" and is_batch_slice(args):
            first = args[1][0] if isinstance(args[1], tuple) else args[1]
            order = self._of(args[0], begins=first.start == 0)
            rows = args[0][order[first].to(args[0].device)]
            rest = (slice(None), *args[1][1:]) if isinstance(args[1], tuple) else slice(None)
            return rows[rest]
        if is_split(name, args, kwargs):
            order = self._of(args[0], begins=True)
            return func(args[0][order.to(args[0].device)], *args[1:], **kwargs)
        return func(*args, **kwargs)

    def _of(self, value: torch.Tensor, begins: bool) -> torch.Tensor:
        key = value.data_ptr()
        self.passes[key] = self.passes.get(key, 0) + begins
        return self._numbers(len(value), self.passes[key])
