"""What becomes of gradients between a backward pass and the step: kept from the step before, thrown away, or never used."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.audit import Watcher
from firstcause.lab.optimizers import Optimizers, after_backward, figure_of, has_gradient, is_live, parameters

Key = tuple[str, int]
SAMPLED = 4
SHOWN_LOSSES = 4000


@dataclass
class Course:
    """What one optimizer was given at its steps.

    ``carried`` counts steps with the gradient of the step before still in theirs, ``lost`` those whose gradient was thrown
    away after backward; ``backwards`` the backward passes that gave its parameters a gradient, ``losses`` what they began at.
    """

    optimizer: torch.optim.Optimizer
    figures: list[float]
    steps: int = 0
    carried: int = 0
    lost: int = 0
    backwards: int = 0
    losses: list[torch.Tensor] = field(default_factory=list)
    before: list[tuple[int, int]] = field(default_factory=list)
    given: bool = False
    clean: bool = True
    left: list[tuple[torch.Tensor, torch.Tensor, int]] = field(default_factory=list)
    cleared_at: Key | None = None
    cleared: dict[Key, int] = field(default_factory=dict)
    step_site: dict[str, Any] | None = None

    def untouched(self) -> bool:
        return bool(self.left) and all(p.grad is g and g._version == v for p, g, v in self.left)

    def grads(self) -> list[tuple[int, int]]:
        """What tells the gradients of now from others, by object and by writes."""
        return [
            (id(g), g._version) if (g := p.grad) is not None else (0, 0) for p in parameters(self.optimizer)
        ]

    def keep(self) -> None:
        live = ((p, p.grad) for p in parameters(self.optimizer) if is_live(p.grad))
        self.left = [
            (p, g, g._version) for (p, g), _ in zip(live, range(SAMPLED), strict=False) if g is not None
        ]


class Watch(Watcher):
    """A gradient that the program changes between two steps, as a decay does, is none that it forgot."""

    def start(self) -> None:
        self.optimizers = Optimizers()
        self.courses: dict[int, Course] = {}
        self.losses: list[torch.Tensor] = []
        self.value: torch.Tensor | None = None
        self.sites: dict[Key, dict[str, Any]] = {}
        self.clears: dict[Key, int] = {}
        self.backward_site: dict[str, Any] | None = None
        after_backward(self._after_backward)
        self._follow(torch.optim.Optimizer)
        self._follow(torch.nn.Module)

    def _follow(self, kind: Any) -> None:
        zero_grad = kind.zero_grad

        def followed(holder: Any, *args: Any, **kwargs: Any) -> Any:
            self._clears(holder, places.of_frame(sys._getframe(1)))
            return zero_grad(holder, *args, **kwargs)

        kind.zero_grad = followed

    def _clears(self, holder: Any, site: dict[str, Any] | None) -> None:
        if site is None:
            return
        key = (site["file"], site["line"])
        self.sites.setdefault(key, site)
        self.clears[key] = self.clears.get(key, 0) + 1
        held = parameters(holder) if isinstance(holder, torch.optim.Optimizer) else holder.parameters()
        cleared = {id(p) for p in held}
        for course in self.courses.values():
            if course.given and any(id(p) in cleared for p in parameters(course.optimizer)):
                course.cleared_at = key

    def _courses(self) -> list[Course]:
        for optimizer in self.optimizers.all:
            if id(optimizer) not in self.courses:
                figures = [figure_of(p) for p in parameters(optimizer)]
                self.courses[id(optimizer)] = Course(optimizer, figures)
        return list(self.courses.values())

    def loss(self, value: torch.Tensor) -> None:
        if len(self.losses) < SHOWN_LOSSES:
            self.losses.append(value.detach())
        self.backward_site = self.backward_site or places.here()
        for course in self._courses():
            course.clean = course.clean or not course.untouched()
            course.before = course.grads()
        self.value = value.detach()

    def _after_backward(self) -> None:
        for course in self._courses():
            if has_gradient(course.optimizer):
                if course.grads() != course.before:
                    course.backwards += 1
                    if self.value is not None and len(course.losses) < SHOWN_LOSSES:
                        course.losses.append(self.value)
                course.given, course.cleared_at = True, None
                # Another loss may have added to what is kept: it is kept all the same.
                if not course.clean:
                    course.keep()

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        self._courses()
        course = self.courses.get(id(optimizer))
        if course is None:
            return
        course.step_site = course.step_site or places.here()
        live = has_gradient(optimizer)
        if course.steps and live and not course.clean:
            course.carried += 1
        if course.given and not live:
            course.lost += 1
            if course.cleared_at is not None:
                course.cleared[course.cleared_at] = course.cleared.get(course.cleared_at, 0) + 1

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        course = self.courses.get(id(optimizer))
        if course is not None:
            course.steps += 1
            course.given = False
            course.keep()
            course.clean = not course.left

    def facts(self) -> dict[str, Any]:
        courses = [c for c in self.courses.values() if c.steps]
        stepped = {id(p) for c in courses for p in parameters(c.optimizer)}
        idle = [c for c in self.courses.values() if not c.steps and not _ids(c.optimizer) & stepped]
        return {
            "gradients": [self._told(c) for c in courses],
            "unstepped": [self._told(c) for c in idle if c.backwards and not _moved(c)],
            "backward_losses": _numbers(self.losses),
            "clears": [{"site": self.sites[k], "times": n} for k, n in self.clears.items()],
        }

    def _told(self, course: Course) -> dict[str, Any]:
        where = max(course.cleared, key=lambda k: course.cleared[k], default=None)
        return {
            "losses": _numbers(course.losses),
            "optimizer": type(course.optimizer).__name__,
            "parameters": len(_ids(course.optimizer)),
            "steps": course.steps,
            "carried": course.carried,
            "lost": course.lost,
            "backwards": course.backwards,
            "cleared_at": self.sites[where] if where is not None else None,
            "step": course.step_site,
            "backward": self.backward_site,
        }


def _numbers(losses: list[torch.Tensor]) -> list[float]:
    return [float(x.float().mean()) for x in losses]


def _ids(optimizer: torch.optim.Optimizer) -> set[int]:
    return {id(p) for p in parameters(optimizer)}


def _moved(course: Course) -> bool:
    """Whether the program changes these parameters by its own hand."""
    return any(figure_of(p) != f for p, f in zip(parameters(course.optimizer), course.figures, strict=False))
