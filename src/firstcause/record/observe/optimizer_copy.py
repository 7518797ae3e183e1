"""Parameters and state of an optimizer just before it steps, where another one steps later in the same pass.

Its replay starts from before the first of them, which has written its parameters by then. The tensors of the last
pass's copy are written over: to ask for fresh memory at every step costs more than the copying.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Sequence
from typing import Any

import torch


class Spare:
    """Tensors of earlier copies, by the optimizer that they were made for and their place in it; all our own."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[weakref.ref[torch.optim.Optimizer], list[torch.Tensor]]] = {}

    def take(self, optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
        """What is there for this optimizer, and was for no other one that had its place in memory."""
        reference, tensors = self._held.pop(id(optimizer), (None, []))
        return tensors if reference is not None and reference() is optimizer else []

    def keep(self, optimizer: torch.optim.Optimizer, tensors: list[torch.Tensor]) -> None:
        place = id(optimizer)
        self._held[place] = (weakref.ref(optimizer, lambda _: self._held.pop(place, None)), tensors)


class OptimizerCopy:
    """The copy, and the way back; holds the optimizer until the pass is over."""

    def __init__(self, optimizer: torch.optim.Optimizer, spare: Spare) -> None:
        self.optimizer = optimizer
        held = [p for g in optimizer.param_groups for p in g["params"]]
        # Steps counted in tensors and moments, in the order of the state; anything else is copied as it is.
        entries = [(p, key, v) for p, state in optimizer.state.items() for key, v in state.items()]
        tensors = [(p, key, v) for p, key, v in entries if type(v) is torch.Tensor]
        copies = _copied([*held, *(v for _, _, v in tensors)], spare.take(optimizer))
        spare.keep(optimizer, copies)
        self.parameters = list(zip(held, copies, strict=False))
        self.entries = [(p, key, c) for (p, key, _), c in zip(tensors, copies[len(held) :], strict=True)]
        self.entries += [(p, key, copy.deepcopy(v)) for p, key, v in entries if type(v) is not torch.Tensor]
        self.settings = [
            {k: copy.copy(v) for k, v in g.items() if k != "params"} for g in optimizer.param_groups
        ]

    def put_back(self) -> None:
        """Parameters, state and settings as they were before the step."""
        with torch.no_grad():
            for parameter, value in self.parameters:
                parameter.data.copy_(value)
        self.optimizer.state.clear()
        for parameter, key, value in self.entries:
            own = value.clone() if isinstance(value, torch.Tensor) else copy.deepcopy(value)
            self.optimizer.state.setdefault(parameter, {})[key] = own
        for group, settings in zip(self.optimizer.param_groups, self.settings, strict=True):
            group.update(settings)


def _copied(tensors: Sequence[torch.Tensor], spare: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Copies of tensors, in the memory of ``spare`` where each is of its kind."""
    plain: list[Any] = [t.detach() for t in tensors]
    alike = len(plain) == len(spare) and all(
        s.shape == t.shape and s.dtype == t.dtype and s.device == t.device and s.stride() == t.stride()
        for s, t in zip(spare, plain, strict=True)
    )
    if not alike:
        return [t.clone() for t in plain]
    with torch.no_grad():
        torch._foreach_copy_(list(spare), plain)
    return list(spare)
