"""What steps are given, seen from inside: the failing one as its replay begins, or many from the program's start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from firstcause.lab.given.properties import properties, tensors_of
from firstcause.record.observe.marks import CANDIDATES


class Failing:
    """The observer of a replay that only reads what its passes are given."""

    def __init__(self, recorder: Any, window: Any) -> None:
        self.recorder = recorder
        self.rows: list[dict[str, float]] = []

    def __enter__(self) -> Failing:
        return self

    def __exit__(self, *exception: Any) -> None:
        """Nothing was attached."""

    def pass_begins(self) -> None:
        replay = self.recorder.replay
        drawn = {f"next {n}": value for n, (value, _) in enumerate(replay.drawn)}
        self.rows.append(properties(tensors_of(self.recorder.window[-1].values | drawn)))

    def loss(self, value: torch.Tensor) -> None:
        """What a step makes is not what it was given."""

    def facts(self, parameters: list[torch.Tensor], error: BaseException | None) -> dict[str, Any]:
        return {"rows": self.rows}


class Others:
    """An arm without a change that reads what each pass of one unit is given, up to so many of them.

    Facts: ``rows`` of the good passes and ``failing`` ones of those whose loss or gradients were not finite, or that raised.
    """

    def __init__(self, arm: dict[str, Any], plan: dict[str, Any], recorder: Any) -> None:
        self.unit, self.most = arm["settings"]["unit"], int(plan["steps"])
        self.recorder = recorder
        self.rows: list[dict[str, float]] = []
        self.failing: list[dict[str, float]] = []
        # What is another object in each pass: the rest is no input of a step, but the program's own.
        self.changing: set[str] = set()
        self.before: dict[str, tuple[int, torch.Tensor]] = {}
        self.values: dict[str, Any] = {}
        self.drawn: dict[str, Any] = {}
        self.row: dict[str, float] = {}
        self.bad = False
        self.finish: Callable[[dict[str, Any]], None]

    def start(self) -> None:
        replay = self.recorder.replay
        # From here on every mark of the unit is one more pass, and what it draws is looked at.
        replay.matches = lambda k: CANDIDATES[k].key == self.unit
        replay.begin = self._begin
        self.recorder.drawn = self._drawn

    def _begin(self, snapshot: Any) -> None:
        self._note()
        # Before the body writes into them.
        self._read(snapshot.values)
        self.values = dict(snapshot.values)

    def _drawn(self, value: Any) -> None:
        drawn = {f"next {len(self.drawn)}": value}
        self._read(drawn)
        self.drawn |= drawn

    def _read(self, values: dict[str, Any]) -> None:
        now = tensors_of(values)
        self.changing |= {p for p, (number, _) in now.items() if self.before.get(p, (number,))[0] != number}
        self.before |= now
        self.row |= properties(now)

    def _note(self) -> None:
        """The pass before this one is over."""
        if self.row:
            (self.failing if self.bad else self.rows).append(self.row)
        self.row, self.drawn, self.bad = {}, {}, False
        if len(self.rows) + len(self.failing) >= self.most:
            self._end()

    def loss(self, value: Any) -> None:
        if isinstance(value, torch.Tensor):
            self.bad = self.bad or not bool(torch.isfinite(value.detach()).all())

    def arrived(self, optimizer: torch.optim.Optimizer) -> None:
        gradients = [p.grad for g in optimizer.param_groups for p in g["params"] if p.grad is not None]
        self.bad = self.bad or not all(bool(torch.isfinite(g.detach()).all()) for g in gradients)
        if self.bad:
            # What follows a spoilt step says nothing of its own inputs.
            self._note()
            self._end()

    def stepped(self, optimizer: torch.optim.Optimizer) -> None:
        """A pass ends at the next mark."""

    def raised(self, error: BaseException) -> None:
        self.bad = True
        self.ended()

    def ended(self) -> None:
        self._note()
        self._end()

    def _end(self) -> None:
        self.finish({"rows": self._inputs(self.rows), "failing": self._inputs(self.failing)})

    def _inputs(self, rows: list[dict[str, float]]) -> list[dict[str, float]]:
        return [{n: v for n, v in r.items() if n.rpartition(": ")[0] in self.changing} for r in rows]
