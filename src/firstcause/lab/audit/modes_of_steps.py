"""The mode in which dropout and batch norm ran before each step, and who had switched it."""

from __future__ import annotations

from typing import Any

import torch

from firstcause.lab.audit import Watcher
from firstcause.lab.modes import Switch, Switches, acts


class Watch(Watcher):
    """A step counts as evaluated where none of its passes with gradients ran in training mode."""

    def start(self) -> None:
        self.switches = Switches()
        # By module, since the step before: whether any pass with gradients ran in training mode.
        self.window: dict[int, tuple[torch.nn.Module, bool]] = {}
        self.steps = self.trained = 0
        self.without_switch = 0
        self.by_switch: dict[tuple[str, int], dict[str, Any]] = {}
        self.kinds: set[str] = set()
        self.last_evaluated = False

    def ran(self, module: torch.nn.Module, args: tuple[Any, ...], result: Any) -> None:
        if not acts(module):
            return
        if torch.is_grad_enabled():
            before = self.window.get(id(module), (module, False))[1]
            self.window[id(module)] = (module, before or module.training)
        else:
            switch = self.switches.last.get(id(module))
            if switch is not None and not switch.mode:
                switch.evaluated = True

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        if not self.window:
            return
        self.steps += 1
        evaluated = [m for m, training in self.window.values() if not training]
        switches = [self.switches.last.get(id(m)) for m in evaluated]
        # What a part is switched to by itself, or with all of it frozen, is meant.
        left = [s for s in switches if s is not None and s.evaluated and not s.mode and _is_whole(s)]
        self.last_evaluated = bool(left)
        if not evaluated:
            self.trained += 1
        elif left and left[0] is not None and left[0].site is not None:
            site = left[0].site
            one = self.by_switch.setdefault((site["file"], site["line"]), {"site": site, "steps": 0})
            one["steps"] += 1
            self.kinds |= {type(m).__name__ for m in evaluated}
        elif all(s is None for s in switches):
            self.without_switch += 1
            self.kinds |= {type(m).__name__ for m in evaluated}

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.window = {}

    def facts(self) -> dict[str, Any]:
        return {
            "modes": {
                "steps": self.steps,
                "trained": self.trained,
                "without_switch": self.without_switch,
                "left": sorted(self.by_switch.values(), key=lambda one: -int(one["steps"])),
                "last": self.last_evaluated,
                "kinds": sorted(self.kinds),
                "asked_to_train": any(s.mode for s in self.switches.all),
            }
        }


def _is_whole(switch: Switch) -> bool:
    """Whether a model was switched and not a single layer, and any of it is trained."""
    return not acts(switch.module) and any(p.requires_grad for p in switch.module.parameters())
