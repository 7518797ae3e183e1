"""Weights that begin at zero beside others at zero, so that the gradient of each is zero for ever.

With ``settings["refill"]`` the first of them in each module is drawn as torch draws a layer's, at its first step.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from firstcause.lab.audit import Watcher
from firstcause.record.observe.reachable import everything_of


class Watch(Watcher):
    """Facts: ``zeros``: by class of module the names of its weights that never moved, and for how many steps."""

    def start(self) -> None:
        # By identity: the weight itself, so that no other one takes its place, and its steps.
        self.still: dict[int, list[Any]] = {}
        self.known: set[int] = set()
        self.refilled = False

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        with torch.no_grad():
            for weight in (p for group in optimizer.param_groups for p in group["params"]):
                if weight.grad is None or weight.dim() < 2:
                    continue
                if id(weight) not in self.known:
                    self.known.add(id(weight))
                    if not bool(weight.any()):
                        self.still[id(weight)] = [weight, 0]
                if id(weight) in self.still:
                    if bool(weight.grad.any()):
                        del self.still[id(weight)]
                    else:
                        self.still[id(weight)][1] += 1
            if self.settings.get("refill") and self.still and not self.refilled:
                self._refill()

    def _refill(self) -> None:
        self.refilled = True
        for _, weights in self._by_module():
            torch.nn.init.kaiming_uniform_(weights[0][1], a=math.sqrt(5))

    def _by_module(self) -> list[tuple[str, list[tuple[str, torch.Tensor]]]]:
        """The modules that hold at least two of them: their class, and the names and weights in the order they were made."""
        (modules,) = everything_of(torch.nn.Module)
        found = []
        for module in modules:
            own = object.__getattribute__(module, "__dict__").get("_parameters") or {}
            held = [(name, p) for name, p in own.items() if p is not None and id(p) in self.still]
            if len(held) > 1:
                found.append((type(module).__name__, held))
        return found

    def facts(self) -> dict[str, Any]:
        return {
            "zeros": [
                {
                    "class": kind,
                    "names": [name for name, _ in weights],
                    "steps": min(self.still[id(p)][1] for _, p in weights),
                }
                for kind, weights in self._by_module()
            ]
        }
