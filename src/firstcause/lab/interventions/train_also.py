"""Parameters that get gradients and that no optimizer holds join the first group of the optimizer that steps.

With ``settings["apart"]``, a module that stands at several places of one container is a copy of its own at each.
"""

from __future__ import annotations

import copy
import gc
from typing import Any

import torch

from firstcause.lab.first_forward import at_first_forward
from firstcause.lab.interventions import Intervention
from firstcause.lab.optimizers import Optimizers
from firstcause.lab.untrained import Ran, without_optimizer

CONTAINERS = (torch.nn.ModuleList, torch.nn.Sequential, torch.nn.ModuleDict)


class Change(Intervention):
    """``added`` counts the elements that joined, ``copies`` the modules that were made."""

    def start(self) -> None:
        self.optimizers, self.ran = Optimizers(), Ran()
        self.added = self.copies = 0
        torch.nn.modules.module.register_module_forward_hook(
            lambda module, args, result: self.ran.add(module)
        )
        if self.settings.get("apart"):
            at_first_forward(self._apart)

    def _apart(self) -> None:
        seen: set[int] = set()
        everything = [m for m in gc.get_objects() if issubclass(type(m), torch.nn.Module)]
        for container in everything:
            inside = isinstance(container, CONTAINERS)
            for key, module in list(container._modules.items()):
                if module is None or not any(True for _ in module.parameters()):
                    continue
                if id(module) in seen and (inside or self.settings["apart"] == "anywhere"):
                    container._modules[key] = copy.deepcopy(module)
                    self.copies += 1
                seen.add(id(module))

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        for parameter in without_optimizer(self.ran, self.optimizers):
            # In a group that is there: a schedule has a rate for each group that it began with.
            optimizer.param_groups[0]["params"].append(parameter)
            self.added += parameter.numel()

    def facts(self) -> dict[str, Any]:
        return {"added": self.added, "copies": self.copies}
