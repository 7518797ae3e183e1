"""Counterfactuals: the same start or the same failing step, one change an arm, rivals beside each other."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from firstcause.lab.executors import Executor
from firstcause.lab.ranks import Ranks, again
from firstcause.lab.sealed import command_of, failing_step, run_sealed, unsaved
from firstcause.record.folder import RunFolder
from firstcause.record.journal import steps_of
from firstcause.record.ranked import world_of

DEEP = "firstcause.lab.arm:Running"
REWRITE = "firstcause.lab.rewriting:rewrite"
# One arm may take this many times as long as the run took for its steps, and this many seconds besides.
SLOWER, SLACK = 6.0, 30.0
# A run as short as this is run to its end: schedules, epochs and evaluations show only there.
WHOLE_SECONDS = 30.0
LEAST_SECONDS = 3
NOT_AGREED = "running the program again was not agreed to: diagnose with --yes"
SPENT = "the budget in time was used up"
COMMUNICATES = "its ranks communicate, which a sealed process may not"


@dataclass(frozen=True)
class Arm:
    """One change: a name for the reader, the module in ``lab/interventions`` that makes it, and its settings."""

    name: str
    change: str = "control"
    settings: dict[str, Any] = field(default_factory=dict)


CONTROL = Arm("as it ran")


@dataclass(frozen=True)
class Ran:
    """What one arm did: how it ended (steps, not-finite, exception, program, lost) and a row of figures a step."""

    name: str
    ended: str
    rows: tuple[dict[str, Any], ...] = ()
    why: str = ""
    exception: dict[str, Any] | None = None
    divided: bool = False
    facts: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def losses(self) -> tuple[float, ...]:
        """The loss of each step, NaN and infinity included; steps whose loss was not seen are left out."""
        return tuple(float(r["loss"]) for r in self.rows if r.get("loss") is not None)

    @property
    def finite(self) -> bool:
        return self.ended in ("steps", "program") and all(map(math.isfinite, self.losses))

    def column(self, name: str) -> tuple[float, ...]:
        return tuple(float(r[name]) for r in self.rows if r.get(name) is not None)


class Lab:
    """Where specialists may run the program again, within a budget in seconds."""

    def __init__(
        self,
        folder: RunFolder,
        failure: dict[str, Any],
        seconds: float,
        allowed: Callable[[], bool] = lambda: True,
        watch: Sequence[str] = (),
        executor: Executor | None = None,
    ) -> None:
        self.folder, self.failure, self.allowed = folder, failure, allowed
        # Where arms run side by side; without one they are forks of one process.
        self.executor = executor
        # The watchers that an audit is made with; none of them named means all.
        self.watch = tuple(watch)
        # Steps that what is looked for needs to show, where a specialist knows.
        self.least = 0
        self.end = time.monotonic() + seconds
        # Every plan with its arms, in the order in which they were asked for.
        self.asked: list[tuple[dict[str, Any], tuple[Arm, ...]]] = []
        self._known: dict[str, dict[str, Ran]] = {}
        # How many steps the audit came in its time, where it was not all of them: what is compared with it takes as many.
        self.seen_steps: int | None = None
        # The longest that a job waited for a place, of those that were last asked for together.
        self._waited = 0.0

    @cached_property
    def world(self) -> int:
        """How many ranks the recorded run had; 0 where none of its processes joined a group."""
        return world_of(self.folder.path)

    @cached_property
    def ranks(self) -> Ranks:
        """The program once more in a confined copy, all of its ranks watched."""
        if not self.allowed():
            return Ranks(why=NOT_AGREED)
        if self.seconds_left < LEAST_SECONDS:
            return Ranks(why=SPENT)
        return again(self.folder, self.seconds_left)

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.end - time.monotonic())

    @contextmanager
    def keeping(self, seconds: float) -> Iterator[None]:
        """Keep so many seconds for what comes later, at most half of what is left."""
        kept = min(seconds, self.seconds_left / 2)
        self.end -= kept
        try:
            yield
        finally:
            self.end += kept

    def horizon(self, least: int) -> int:
        """How many steps an arm is to take: all of a short run and one more, for what stands after the last; else ``least``."""
        if self.seen_steps is not None:
            return self.seen_steps
        seconds = self.folder.run().seconds
        taken = len(steps_of(self.folder.journals().values()))
        wanted = max(least, min(self.least, taken))
        if self.least:
            # To the end of a short run it would be many times as long, and twice: watched, and without what is held.
            return min(wanted, taken + 1)
        return max(wanted, taken + 1) if seconds is not None and seconds <= WHOLE_SECONDS else wanted

    def from_start(self, arms: Sequence[Arm], steps: int, after: int = 0) -> dict[str, Ran]:
        """Each arm from the program's first mark (or the first one after step ``after``), for ``steps`` steps."""
        ran = self._run({"from": "start", "steps": steps, "after": after}, arms)
        if not after and any(a.change == "audit" and _is_cut(ran[a.name], steps) for a in arms):
            self.seen_steps = max(len(ran[a.name].rows) for a in arms)
            # Asked for once more, it is asked for with as many steps as it took.
            as_long = {"from": "start", "steps": self.seen_steps, "after": 0}
            self._known.setdefault(json.dumps(as_long, sort_keys=True), {}).update(ran)
        return ran

    def ran(self, since: int = 0) -> dict[str, Ran]:
        """What came of the arms that were asked for, by name, behind the first ``since`` plans."""
        found: dict[str, Ran] = {}
        for plan, arms in self.asked[since:]:
            known = self._known.get(json.dumps(plan, sort_keys=True), {})
            found |= {a.name: known[a.name] for a in arms if a.name in known}
        return found

    def rewritten(self, arm: Arm, steps: int, statements: Sequence[dict[str, Any]]) -> Ran:
        """An arm from the first mark of the program with statements changed in its text (``lab/rewriting``)."""
        plan = {"from": "start", "steps": steps, "after": 0, "statements": list(statements)}
        return self._run(plan, [arm])[arm.name]

    def from_failure(self, arms: Sequence[Arm]) -> dict[str, Ran]:
        """Each arm on the saved state of the failing step, up to its optimizer step or its exception."""
        why = unsaved(self.failure)
        if why:
            return lost(arms, why)
        return self._run({"from": "failure", "steps": 1}, arms)

    def _run(self, plan: dict[str, Any], arms: Sequence[Arm]) -> dict[str, Ran]:
        """What is known of the arms already, and a process for the others; one more for those it could not fork."""
        self.asked.append((plan, tuple(arms)))
        known = self._known.setdefault(json.dumps(plan, sort_keys=True), {})
        while wanted := [a for a in arms if a.name not in known]:
            known.update(self._process(plan, wanted) if self.executor is None else self._jobs(plan, wanted))
        return {a.name: known[a.name] for a in arms}

    def _jobs(self, plan: dict[str, Any], arms: Sequence[Arm]) -> dict[str, Ran]:
        """A process of its own for each arm, side by side; what they wait for a place is not of the budget."""
        assert self.executor is not None
        # A person is asked once, and before the threads.
        self.allowed()
        self._waited = 0.0
        with ThreadPoolExecutor(min(self.executor.width, len(arms))) as threads:
            each = threads.map(lambda arm: self._process(plan, [arm]), arms)
            found = {name: ran for one in each for name, ran in one.items()}
        self.end += self._waited
        return found

    def _process(self, plan: dict[str, Any], arms: Sequence[Arm]) -> dict[str, Ran]:
        if not self.allowed():
            return lost(arms, NOT_AGREED)
        alone = plan["from"] == "failure" and "alone" in self.failure
        if self.world > 1 and not alone:
            return lost(arms, COMMUNICATES)
        left = self.seconds_left
        if left < LEAST_SECONDS:
            return lost(arms, SPENT)
        took, began = self.folder.run().seconds or 0.0, time.monotonic()
        whole = plan | {
            "arms": [{"name": a.name, "change": a.change, "settings": a.settings} for a in arms],
            "seconds": left,
            "arm_seconds": SLOWER * took + SLACK,
        }
        if self.executor is None:
            # By the clock that all processes of a machine share. Elsewhere, the time begins at the first mark.
            whole["until"] = began + left
        extra = {"FIRSTCAUSE_DEEP": DEEP}
        files: dict[str, Any] = {"FIRSTCAUSE_ARMS": whole}
        if plan["from"] == "failure":
            extra |= failing_step(self.folder, self.failure)
        if plan.get("statements"):
            extra |= {"FIRSTCAUSE_REWRITE": REWRITE}
            files |= {"FIRSTCAUSE_STATEMENTS": plan["statements"]}
        try:
            command = command_of(self.failure) if alone else None
            ended = run_sealed(self.folder, extra, files, left, command=command, executor=self.executor)
        except OSError as error:
            return lost(arms, f"it could not be started: {error}")
        self._waited = max(self._waited, time.monotonic() - began - ended.seconds)
        found = {r.name: r for r in map(read, ended.results)}
        if not found:
            how = (
                "took too long"
                if ended.code is None
                else f"ended with code {ended.code} before the first mark"
            )
            said = f"; it said: {ended.said}" if ended.said else ""
            return lost(arms, f"the process {how}{said}")
        return found


def _is_cut(ran: Ran, steps: int) -> bool:
    """Whether an arm ended by itself before its last step and before the program, for want of time."""
    return ran.ended == "steps" and 0 < len(ran.rows) < steps


def lost(arms: Sequence[Arm], why: str) -> dict[str, Ran]:
    """Every arm, with why there is nothing of it."""
    return {a.name: Ran(a.name, "lost", why=why) for a in arms}


def read(data: dict[str, Any]) -> Ran:
    """An arm as its process has written it."""
    return Ran(
        data["arm"],
        data["ended"],
        tuple(data.get("rows") or ()),
        data.get("why", ""),
        data.get("exception"),
        bool(data.get("divided")),
        data.get("facts") or {},
    )
