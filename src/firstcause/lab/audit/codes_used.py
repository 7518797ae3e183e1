"""How many codes of a discrete bottleneck a training uses; with ``settings["revived"]``, a number of steps, unused
codes begin anew from its vectors after each of the first steps, and the rest shows whether they stay in use.
"""

from __future__ import annotations

from typing import Any

import torch

from firstcause.lab.audit import Call, Watcher
from firstcause.lab.codebooks import CHOICES, COMPARISONS, LOOKUPS, Books
from firstcause.record.observe.failure import parameter_names


class Watch(Watcher):
    """Facts: ``codebooks``, each with its codes, how many of them are used over the last count, and their perplexity."""

    CALLS = CHOICES | COMPARISONS | LOOKUPS

    def start(self) -> None:
        self.books = Books()
        self.steps = 0

    def called(self, call: Call) -> None:
        if torch.is_grad_enabled() or self.books.compared:
            self.books.called(call)

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.books.fresh()

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.steps += 1
        if self.steps <= self.settings.get("revived", 0):
            with torch.no_grad():
                self.books.revive()

    def facts(self) -> dict[str, Any]:
        buffers = {
            id(b): f"{path}.{name}"
            for path, module in reversed(list(self.recorder.reachable.modules.items()))
            for name, b in module.named_buffers()
        }
        names = buffers | parameter_names(self.recorder)
        return {
            "codebooks": [b.facts() | {"name": names.get(id(b.codes), "")} for b in self.books.books.values()]
        }
