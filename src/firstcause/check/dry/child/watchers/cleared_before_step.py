"""Gradients are cleared between backward and the step that should apply them.

Seen: twice or more, backward, then ``zero_grad``, then a step without any gradient.
Refuted by: one gradient left, or a step that found some.
"""

from __future__ import annotations

from typing import Any

from firstcause.check.dry.child.optimizers import held
from firstcause.check.dry.child.session import NOWHERE
from firstcause.check.dry.child.watcher import Watcher


class ClearedBeforeStep(Watcher):
    SLUG = "zero-grad-before-step"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.given: set[int] = set()
        self.lost: set[int] = set()
        self.where = NOWHERE
        self.times: dict[int, int] = {}
        self.good: set[int] = set()

    def backward_done(self, root: Any) -> None:
        for optimizer in _optimizers():
            self.given |= {id(p) for p in held(optimizer) if p.grad is not None}

    def cleared(self, parameters: list[Any]) -> None:
        ids = {id(p) for p in parameters}
        if ids & self.given:
            self.where = self.session.place()
            self.lost |= ids & self.given
            self.given -= ids

    def step(self, optimizer: Any) -> None:
        parameters = held(optimizer)
        ids = {id(p) for p in parameters}
        if any(p.grad is not None for p in parameters):
            self.good.add(id(optimizer))
            if not ids & self.lost:
                self.session.fine(self.SLUG, self.session.place())
        elif ids & self.lost and id(optimizer) not in self.good:
            self.times[id(optimizer)] = self.times.get(id(optimizer), 0) + 1
            if self.times[id(optimizer)] >= 2:
                line = self.session.place()
                text = (
                    "zero_grad() comes between backward and step(), which finds no gradient: nothing is learned; "
                    "clear after step()"
                )
                self.session.find(self.SLUG, "critical", text, self.where, (line,))
        self.lost -= ids
        self.given -= ids


def _optimizers() -> list[Any]:
    from firstcause.check.dry.child.modules import everywhere

    return everywhere()
