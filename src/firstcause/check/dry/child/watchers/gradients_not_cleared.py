"""A step applies gradients that the step before has applied already.

Seen: a gradient's memory, used by a step, is added to by backward and used by the next step of the same optimizer.
Refuted by: anything that changes it in between, ``zero_grad`` or an operator of the program's own; new memory.
"""

from __future__ import annotations

from typing import Any

import torch

from firstcause.check.dry.child.optimizers import held
from firstcause.check.dry.child.watcher import Watcher

AT_LEAST = 3


def memory(tensor: Any) -> int:
    if tensor.layout != torch.strided:
        return id(tensor)
    return int(tensor.untyped_storage()._cdata)


class GradientsNotCleared(Watcher):
    SLUG = "missing-zero-grad"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        # By optimizer: what its last step used, kept alive so that no memory is given out again.
        self.used: dict[int, dict[int, Any]] = {}
        self.since = 0
        self.carried: dict[int, int] = {}

    def backward_done(self, root: Any) -> None:
        self.since += 1

    def cleared(self, parameters: list[Any]) -> None:
        self.changed([p.grad for p in parameters if p.grad is not None], "zero_grad")

    def changed(self, tensors: list[Any], name: str) -> None:
        if not self.used:
            return
        for tensor in tensors:
            place = memory(tensor)
            for used in self.used.values():
                used.pop(place, None)

    def step(self, optimizer: Any) -> None:
        used, key = self.used.get(id(optimizer)), id(optimizer)
        grads = [p.grad for p in held(optimizer) if p.grad is not None]
        place = self.session.place()
        if used is not None and grads and self.since:
            again = sum(memory(g) in used for g in grads)
            self.carried[key] = self.carried.get(key, 0) + 1 if again == len(grads) else 0
            if not again:
                self.session.fine(self.SLUG, place)
            if self.carried[key] >= AT_LEAST - 1:
                text = (
                    f"step() applies gradients that hold those of the step before: {again} of {len(grads)} were used "
                    f"{self.carried[key]} times in a row without being cleared; call zero_grad() once a step"
                )
                self.session.find(self.SLUG, "critical", text, place)
        if grads:
            self.used[key] = {memory(g): g for g in grads}
        self.since = 0
