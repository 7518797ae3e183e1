"""A schedule on another clock: at every n-th of its calls only, without its first one, or after each optimizer step."""

from __future__ import annotations

from typing import Any

import torch

from firstcause.lab.interventions import Intervention
from firstcause.lab.schedules import Schedules, living


class Change(Intervention):
    """``settings["every"]``: which calls count; ``settings["first"]`` False: all but each schedule's first one.

    Without either the optimizer's steps count in place of all calls.
    """

    def start(self) -> None:
        self.every = int(self.settings.get("every") or 0)
        self.late = self.settings.get("first") is False
        self.calls: dict[int, int] = {}
        self.schedules = Schedules(self._asked)
        self.moved = 0

    def _asked(self, schedule: Any, site: dict[str, Any] | None) -> bool:
        if not self.every and not self.late:
            return False
        self.calls[id(schedule)] = self.calls.get(id(schedule), 0) + 1
        if self.late:
            return self.calls[id(schedule)] > 1
        return self.calls[id(schedule)] % self.every == 0

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        if not self.every and not self.late:
            for schedule in living():
                if schedule.optimizer is optimizer:
                    self.schedules.step(schedule)
                    self.moved += 1

    def facts(self) -> dict[str, Any]:
        return {"moved": self.moved}
