"""Codebooks: which vectors were compared with which codes, and which code each of them got. Sealed child only."""

from __future__ import annotations

import gc
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.audit import Call

CHOICES = frozenset({"argmin", "argmax", "min", "max", "topk"})
COMPARISONS = frozenset({"cdist", "matmul", "mm", "linear", "addmm", "sub", "einsum"})
LOOKUPS = frozenset({"embedding", "getitem", "index_select", "matmul", "mm", "linear"})
LEAST_CODES = 8
# Choices for each code after which a count tells which codes are in use.
EACH = 20
# Codes whose counts are told one by one, the most used first.
MOST_COUNTS = 512


@dataclass
class Book:
    """One codebook: its codes, and how often each was chosen in the first and in the last whole count."""

    codes: torch.Tensor
    site: dict[str, Any] | None
    counts: torch.Tensor
    chosen: torch.Tensor
    first: torch.Tensor | None = None
    last: torch.Tensor | None = None
    vectors: torch.Tensor | None = None
    counted: set[int] = field(default_factory=set)

    def count(self, index: torch.Tensor) -> None:
        self.chosen = torch.bincount(index.flatten(), minlength=len(self.codes))
        self.counts += self.chosen
        if int(self.counts.sum()) >= EACH * len(self.codes):
            self.first = self.counts if self.first is None else self.first
            self.last, self.counts = self.counts, torch.zeros_like(self.counts)

    def facts(self) -> dict[str, Any]:
        counts = self.last if self.last is not None else self.counts
        shares = counts.double() / counts.sum().clamp_min(1)
        return {
            "codes": len(self.codes),
            "used": int((counts > 0).sum()),
            "choices": int(counts.sum()),
            "counts": sorted(counts.tolist(), reverse=True)[:MOST_COUNTS],
            "perplexity": float(torch.exp(-(shares * shares.clamp_min(1e-12).log()).sum())),
            "site": self.site,
            "learned": self.codes.requires_grad,
        }


class Books:
    """Finds a codebook where an index that was chosen among distances to it looks it up."""

    def __init__(self) -> None:
        self.books: dict[int, Book] = {}
        self.fresh()

    def fresh(self) -> None:
        """Forget what was compared and chosen in the step that is over."""
        # Bounded: an evaluation may go on for long without a step.
        self.compared: deque[tuple[torch.Tensor, int]] = deque(maxlen=256)
        self.chosen: deque[tuple[torch.Tensor, dict[str, Any] | None]] = deque(maxlen=32)

    def called(self, call: Call) -> None:
        tensors = [a for a in call.args if isinstance(a, torch.Tensor)]
        if call.name in COMPARISONS and len(tensors) > 1:
            self.compared.append((tensors[-2].detach(), _place(tensors[-1])))
        if call.name in LOOKUPS and self.chosen:
            self._looked_up(call, tensors)
        if call.name in CHOICES and tensors:
            index = _index(call.result)
            if index is not None and tensors[0].shape[-1] >= LEAST_CODES and tensors[0].is_floating_point():
                self.chosen.append((index, places.here()))

    def _looked_up(self, call: Call, tensors: list[torch.Tensor]) -> None:
        if call.name in ("matmul", "mm"):
            # The one-hot rows of the last choice times the codes.
            if len(tensors) > 1 and not tensors[0].requires_grad and tensors[1].dim() == 2:
                index, site = self.chosen[-1]
                if (
                    tensors[0].shape[-1] == len(tensors[1])
                    and index.numel() * len(tensors[1]) == tensors[0].numel()
                ):
                    self._found(tensors[1], index, site)
            return
        for index, site in self.chosen:
            used = [t for t in _parts(call) if t.dtype == torch.int64 and _place(t) == _place(index)]
            codes = [t for t in tensors if t.is_floating_point() and t.dim() == 2]
            if used and codes:
                self._found(codes[0], used[0], site)

    def _found(self, codes: torch.Tensor, index: torch.Tensor, site: dict[str, Any] | None) -> None:
        vectors = next(
            (z for z, p in self.compared if p == _place(codes) and z.shape[-1] == codes.shape[1]), None
        )
        if vectors is None or len(codes) < LEAST_CODES or int(index.max()) >= len(codes):
            return
        nothing = torch.zeros(len(codes), dtype=torch.int64)
        book = self.books.setdefault(_place(codes), Book(codes, site, nothing, nothing))
        if id(index) not in book.counted:
            book.counted = {id(index)}
            book.vectors = vectors.reshape(-1, codes.shape[1])
            book.count(index)

    def revive(self) -> None:
        """Codes that the last step did not use become vectors of that step, and count as used once."""
        generator = torch.Generator().manual_seed(0)
        for book in self.books.values():
            unused = book.chosen == 0
            if book.vectors is None or not bool(unused.any()):
                continue
            rows = torch.randint(len(book.vectors), (int(unused.sum()),), generator=generator)
            new = book.vectors[rows].to(book.codes.dtype)
            book.codes.data[unused] = new
            for buffer in _averages(book.codes):
                buffer.data[unused] = new if buffer.dim() == 2 else torch.ones((), dtype=buffer.dtype)


def _averages(codes: torch.Tensor) -> list[torch.Tensor]:
    """Moving averages that the codes are made of: buffers beside them, a row or a number for each code."""
    holders = [
        m
        for m in gc.get_objects()
        if issubclass(type(m), torch.nn.Module)
        and "_buffers" in m.__dict__
        and any(p.data_ptr() == codes.data_ptr() for p in (*m.parameters(), *m.buffers()))
    ]
    beside = min(holders, key=lambda m: sum(1 for _ in m.modules()), default=None)
    found = [] if beside is None else [b for b in beside.buffers() if b.is_floating_point()]
    shapes = (codes.shape, codes.shape[:1])
    return [b for b in found if b.shape in shapes and b.data_ptr() != codes.data_ptr()]


def _place(value: torch.Tensor) -> int:
    return int(value.untyped_storage().data_ptr())


def _index(result: Any) -> torch.Tensor | None:
    """The chosen numbers: the result itself, or the second part of values and indices."""
    parts = result if isinstance(result, tuple) else (result,)
    return next((p for p in parts if isinstance(p, torch.Tensor) and p.dtype == torch.int64), None)


def _parts(call: Call) -> list[torch.Tensor]:
    """The tensors of a call, those of an index that is a tuple included."""
    found: list[torch.Tensor] = []
    for value in (*call.args, *call.kwargs.values()):
        inside = value if isinstance(value, (tuple, list)) else (value,)
        found += [v for v in inside if isinstance(v, torch.Tensor)]
    return found
