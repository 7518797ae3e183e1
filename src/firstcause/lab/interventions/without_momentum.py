"""Optimizers without memory of earlier gradients: momentum 0, Adam's first beta 0."""

from __future__ import annotations

from firstcause.lab.interventions import Intervention


class Change(Intervention):
    """Set at the fork, before any step was taken."""

    def start(self) -> None:
        for optimizer in self.recorder.reachable.optimizers.values():
            for group in optimizer.param_groups:
                if "momentum" in group:
                    group["momentum"] = 0.0
                    group["nesterov"] = False
                if "betas" in group:
                    group["betas"] = (0.0, group["betas"][1])
