"""Parameters that the optimizer holds and that no gradient reaches, with the places that cut them off."""

from __future__ import annotations

from typing import Any

import torch

from firstcause.lab.audit import Watcher
from firstcause.lab.cuts import Cuts
from firstcause.record.observe.failure import parameter_names

# How far parameters are moved, in parts of their mean size: far enough for another choice of an index.
MOVED = 0.5


class Watch(Watcher):
    """With ``settings["undone"]``, a list of [file, line], the cuts there have no effect.

    With ``moved``, a list of names, those parameters get other values at the first step, if no gradient reached them.
    """

    def start(self) -> None:
        self.cuts = Cuts(frozenset((f, n) for f, n in self.settings.get("undone") or ()))
        self.cuts.__enter__()
        self.without: set[int] | None = None
        self.held: dict[int, torch.Tensor] = {}
        self.steps = 0

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        held = [p for g in optimizer.param_groups for p in g["params"] if p.requires_grad]
        self.held |= {id(p): p for p in held}
        if self.settings.get("moved") and not self.steps:
            self._move([p for p in held if p.grad is None])
        reached = {id(p) for p in self.held.values() if p.grad is not None}
        self.without = set(self.held) - reached if self.without is None else self.without - reached
        self.steps += 1

    def _move(self, held: list[torch.Tensor]) -> None:
        names, wanted = parameter_names(self.recorder), set(self.settings["moved"])
        # A generator of its own: the program's random numbers stay as they are.
        generator = torch.Generator().manual_seed(0)
        with torch.no_grad():
            for parameter in held:
                if names.get(id(parameter), "unnamed") in wanted:
                    scale = MOVED * float(parameter.float().abs().mean()) or MOVED
                    noise = torch.randn(parameter.shape, generator=generator)
                    parameter += scale * noise.to(parameter.device, parameter.dtype)

    def facts(self) -> dict[str, Any]:
        names = parameter_names(self.recorder)
        without = self.without or set()
        cuts = [
            {
                "site": c["site"],
                "kind": c["kind"],
                "training": c["training"],
                "cut_off": len(c["parameters"] & without),
            }
            for c in self.cuts.found.values()
            if c["parameters"] & without
        ]
        return {
            "held": len(self.held),
            "without_gradient": sorted(names.get(i, "unnamed") for i in without),
            "cuts": cuts,
        }
