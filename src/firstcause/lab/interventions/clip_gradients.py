"""The norm of all gradients of an optimizer held at ``norm``."""

from __future__ import annotations

import torch

from firstcause.lab.interventions import Intervention


class Change(Intervention):
    """Clips just before the step."""

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        held = [p for g in optimizer.param_groups for p in g["params"] if p.grad is not None]
        torch.nn.utils.clip_grad_norm_(held, self.settings["norm"])
