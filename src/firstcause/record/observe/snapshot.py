"""What one mark keeps so that the body can be run again from it: small, and dropped when the check passes."""

from __future__ import annotations

from collections.abc import Iterable
from types import FrameType
from typing import Any

import torch

from firstcause.record.observe import rng
from firstcause.record.observe.kept import Kept, keep_containers, tensors_in


class Snapshot:
    """The state at the top of one pass of a candidate's body."""

    def __init__(self, k: int, names: tuple[str, ...], frame: FrameType) -> None:
        self.k = k
        self.names = names
        self.values: dict[str, Any] = {}
        self.frame_id = id(frame)
        self.code = frame.f_code
        self.rng = rng.global_state()
        self.generators: list[tuple[Any, Any]] = []
        self.kept: list[Kept] = []
        self.buffers: list[tuple[torch.Tensor, torch.Tensor]] = []
        self.copies: list[tuple[torch.Tensor, torch.Tensor]] = []
        self.versions: list[tuple[str, torch.Tensor, int]] = []
        self.drawn: list[Any] = []
        self.sequence: int | None = None

    def keep_values(self, values: dict[str, Any], mutated: frozenset[str]) -> None:
        """Hold the names' values; tensors under a name that the body was seen to write are copied."""
        self.values = values
        for name, value in values.items():
            self.kept.extend(keep_containers(value))
            for tensor in tensors_in(value):
                if name in mutated:
                    self.copies.append((tensor, tensor.detach().clone()))
                self.versions.append((name, tensor, tensor._version))

    def keep_buffers(self, buffers: Iterable[torch.Tensor]) -> None:
        self.buffers = [(b, b.detach().clone()) for b in buffers]

    def keep_generators(self, generators: Iterable[Any]) -> None:
        self.generators = [(g, rng.state_of(g)) for g in generators]

    def written(self) -> set[str]:
        """Names whose tensors were written in place since the mark and of which no copy was kept."""
        copied = {id(t) for t, _ in self.copies}
        return {n for n, t, version in self.versions if t._version != version and id(t) not in copied}

    def put_back_state(self) -> None:
        """Everything but the random numbers, which each pass of a window sets for itself."""
        with torch.no_grad():
            for tensor, copy in (*self.buffers, *self.copies):
                tensor.data.copy_(copy)
        for kept in self.kept:
            kept.put_back()

    def put_back_random(self) -> None:
        for generator, state in self.generators:
            rng.set_state_of(generator, state)
        rng.set_global_state(self.rng)
