"""What one mark keeps so that the body can be run again from it: small, and dropped when the check passes."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from types import FrameType
from typing import Any

import torch

from firstcause.record.observe import rng
from firstcause.record.observe.kept import LOOKED_INTO, Kept, keep_containers, tensors_in

# So many tensors are copied one by one.
FEW = 4


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
        # What ``next`` gave in the body, each with the random numbers' states after it.
        self.drawn: list[tuple[Any, dict[str, Any]]] = []
        self.sequence: int | None = None

    def keep_values(self, values: dict[str, Any], mutated: frozenset[str]) -> None:
        """Hold the names' values; tensors under a name that the body was seen to write are copied."""
        self.values = values
        for name, value in values.items():
            if type(value) in LOOKED_INTO:
                keep_containers(value, self.kept)
            for tensor in tensors_in(value):
                if tensor.is_inference():
                    # It counts no writes, and takes none where something is trained.
                    continue
                if name in mutated:
                    self.copies.append((tensor, tensor.detach().clone()))
                self.versions.append((name, tensor, tensor._version))

    def keep_drawn(self, value: Any) -> None:
        """Hold what ``next`` gave: a replay is given it, and is not to draw the random numbers behind it again."""
        self.drawn.append((value, rng.global_state()))

    def keep_buffers(self, buffers: Iterable[torch.Tensor]) -> None:
        held = list(buffers)
        self.buffers = list(zip(held, _copied(held), strict=True))

    def keep_generators(self, generators: Iterable[Any]) -> None:
        self.generators = [(g, rng.state_of(g)) for g in generators]

    def twin(self) -> Snapshot:
        """Another with the same contents, which outlives the emptying of this one."""
        twin = object.__new__(Snapshot)
        twin.__dict__.update(self.__dict__)
        return twin

    def fade(self) -> Snapshot:
        """This mark after its step: its random numbers' states, and nothing of the program held but weakly."""
        self.values, self.kept, self.buffers, self.copies, self.versions = {}, [], [], [], []
        if self.drawn:
            self.drawn = [(_faded(value), state) for value, state in self.drawn]
        return self

    def woken(self, frame: FrameType) -> bool:
        """Take the names from their frame, as the pass has left them; False where something drawn is gone."""
        try:
            self.drawn = [(_woken(value), state) for value, state in self.drawn]
        except ReferenceError:
            return False
        held = frame.f_locals
        self.keep_values({n: held[n] for n in self.names if n in held}, frozenset())
        return True

    def written(self) -> set[str]:
        """Names whose tensors were written in place since the mark and of which no copy was kept."""
        changed = [(n, t) for n, t, version in self.versions if t._version != version]
        copied = {id(t) for t, _ in self.copies} if changed else ()
        return {n for n, t in changed if id(t) not in copied}

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


def _copied(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """Copies of tensors; those on a card, where each call is dear, by one call for all of a kind."""
    kinds = {(type(t), t.device, t.dtype, t.layout) for t in tensors}
    together = len(tensors) > FEW and all(
        d.type == "cuda" and dtype.is_floating_point | (dtype is torch.int64) and layout is torch.strided
        for _, d, dtype, layout in kinds
    )
    if not together:
        return [t.detach().clone() for t in tensors]
    copies: dict[int, torch.Tensor] = {}
    with torch.no_grad():
        for kind in kinds:
            alike = [t for t in tensors if (type(t), t.device, t.dtype, t.layout) == kind]
            # Times one: the same bits in fresh memory.
            copies |= zip(map(id, alike), torch._foreach_mul(alike, 1), strict=True)
    return [copies[id(t)] for t in tensors]


def _faded(value: Any) -> Any:
    """A tree of containers with weak references in place of all that can be referred to weakly."""
    if type(value) in (list, tuple):
        return type(value)(_faded(v) for v in value)
    if type(value) is dict:
        return {k: _faded(v) for k, v in value.items()}
    return weakref.ref(value) if type(value).__weakrefoffset__ else value


def _woken(value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)(_woken(v) for v in value)
    if type(value) is dict:
        return {k: _woken(v) for k, v in value.items()}
    if type(value) is not weakref.ref:
        return value
    target = value()
    if target is None:
        raise ReferenceError
    return target
