"""Every optimizer's learning rate times ``factor``, at each step, whatever a schedule makes of it."""

from __future__ import annotations

import torch

from firstcause.lab.interventions import Intervention


class Change(Intervention):
    """Scales the rate for the step alone, so that schedulers read and write what they always did."""

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.rates = [group.get("lr") for group in optimizer.param_groups]
        for group, rate in zip(optimizer.param_groups, self.rates, strict=True):
            if rate is not None:
                group["lr"] = rate * self.settings["factor"]

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        for group, rate in zip(optimizer.param_groups, self.rates, strict=True):
            if rate is not None:
                group["lr"] = rate
