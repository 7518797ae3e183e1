"""The norm of all gradients of an optimizer held at ``norm``."""

from __future__ import annotations

import torch

from firstcause.lab.interventions import Intervention, with_gradient


class Change(Intervention):
    """Clips just before the step."""

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        torch.nn.utils.clip_grad_norm_(with_gradient(optimizer), self.settings["norm"])
