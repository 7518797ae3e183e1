"""Parameters that are switched off are on, in every training forward and from its start, and in an optimizer."""

from __future__ import annotations

from typing import Any

import torch

from firstcause.lab.interventions import Intervention
from firstcause.lab.optimizers import Optimizers, is_live


class Change(Intervention):
    """``settings["names"]``: the class of a model and the name of a parameter in it, a pair each.

    With ``settings["beside_trained"]`` only in models of which other parameters are on.
    Facts: ``trained``, the elements that had a gradient at a step.
    """

    def start(self) -> None:
        self.names = {(str(kind), str(name)) for kind, name in self.settings.get("names") or []}
        self.kinds = {kind for kind, _ in self.names}
        self.optimizers = Optimizers()
        self.known: dict[int, torch.nn.Parameter] = {}
        self.live: dict[int, int] = {}
        torch.nn.modules.module.register_module_forward_pre_hook(lambda module, args: self._switch(module))

    def _meet(self, module: torch.nn.Module) -> list[torch.nn.Parameter]:
        """The parameters of a model that are meant; a module of another class has none."""
        if type(module).__name__ not in self.kinds:
            return []
        kind = type(module).__name__
        others = (p for n, p in module.named_parameters() if (kind, n) not in self.names)
        if self.settings.get("beside_trained") and not any(p.requires_grad for p in others):
            return []
        return [p for n, p in module.named_parameters() if (kind, n) in self.names]

    def _switch(self, module: torch.nn.Module) -> None:
        if not torch.is_grad_enabled():
            return
        # Looked up anew at each forward: a part may have been replaced since the last one.
        for parameter in self._meet(module):
            if parameter.requires_grad and id(parameter) not in self.known:
                # On by the program itself, for now.
                continue
            parameter.requires_grad_(True)
            self.known[id(parameter)] = parameter

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        held = self.optimizers.held()
        for parameter in self.known.values():
            if is_live(parameter.grad):
                self.live[id(parameter)] = parameter.numel()
                if id(parameter) not in held:
                    # In a group that is there: a schedule has a rate for each group that it began with.
                    optimizer.param_groups[0]["params"].append(parameter)

    def facts(self) -> dict[str, Any]:
        return {"trained": sum(self.live.values())}
