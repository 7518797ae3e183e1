"""Hooks are registered again and again on the same module, and none is removed.

Seen: a module has more hooks at each of several steps than at the one before.
Refuted by: one removal.
"""

from __future__ import annotations

from typing import Any

from firstcause.check.dry.child.session import Place
from firstcause.check.dry.child.watcher import Watcher

AT_LEAST = 3


class HooksPileUp(Watcher):
    SLUG = "forward-hooks-never-removed"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.counts: dict[int, tuple[int, int]] = {}
        # The module as well, so that no other one comes to its address.
        self.places: dict[int, tuple[Any, Place]] = {}

    def hooked(self, module: Any) -> None:
        self.places[id(module)] = module, self.session.place()

    def forward(self, module: Any, inputs: Any, output: Any) -> None:
        for inner in module.modules():
            if id(inner) in self.places:
                self._count(inner)

    def _count(self, module: Any) -> None:
        number = len(module._forward_hooks) + len(module._forward_pre_hooks)
        before, times = self.counts.get(id(module), (number, 0))
        times = times + 1 if number > before else -1000 if number < before else times
        self.counts[id(module)] = number, times
        if times == AT_LEAST:
            text = (
                f"{type(module).__name__} has {number} hooks by now, more with each round, and none was ever removed: each call "
                "runs all of them; keep the handle and call remove()"
            )
            self.session.find(self.SLUG, "critical", text, self.places[id(module)][1])
