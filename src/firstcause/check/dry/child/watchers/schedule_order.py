"""A schedule steps before the optimizer does.

Seen: twice or more, backward, the schedule, then the optimizer's step; and the first step of all was the schedule's.
Refuted by: a step of that optimizer before it, schedules that are wound forward before training.
"""

from __future__ import annotations

from typing import Any

from firstcause.check.dry.child.session import Place
from firstcause.check.dry.child.watcher import Watcher


class ScheduleOrder(Watcher):
    SLUG = "scheduler-before-optimizer"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.waiting: dict[int, Place] = {}
        self.times: dict[int, int] = {}
        self.since_backward = False
        self.first: dict[int, bool] = {}

    def backward_done(self, root: Any) -> None:
        self.since_backward = True

    def scheduled(self, scheduler: Any) -> None:
        self.session.absent("scheduler-never-stepped", scheduler.fc_place)
        key = id(scheduler.optimizer)
        if self.since_backward:
            self.first.setdefault(key, key not in self.session.steps)
            self.waiting[key] = self.session.place()
        elif key in self.session.steps:
            self.session.fine(self.SLUG, self.session.place())

    def step(self, optimizer: Any) -> None:
        place = self.waiting.pop(id(optimizer), None)
        if place is not None and self.first.get(id(optimizer)):
            self.times[id(optimizer)] = self.times.get(id(optimizer), 0) + 1
            if self.times[id(optimizer)] >= 2:
                text = (
                    "the schedule steps before the optimizer: its first learning rate is skipped and each later "
                    "one comes a step early"
                )
                self.session.find(self.SLUG, "critical", text, place, (self.session.place(),))

    def stepped(self, optimizer: Any) -> None:
        self.since_backward = False
