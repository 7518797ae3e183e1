"""Counterfactual arms: a fresh sealed process that runs the program to a mark and goes on from there once an arm.

Each arm is a fork of that process, with one change. From the start an arm simply goes on; from the failing step it
unwinds to the mark and runs the body on the saved state, as a replay does.
"""

from __future__ import annotations

import atexit
import json
import os
import time
from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from firstcause.record.observe import elsewhere, failure, fresh
from firstcause.record.observe.replay import Replay, Rewind
from firstcause.sandbox import copies, fork
from firstcause.sandbox.lifetime import leave

if TYPE_CHECKING:
    from firstcause.record.observe.recorder import Recorder
    from firstcause.record.observe.snapshot import Snapshot

ARMS = "FIRSTCAUSE_ARMS"


def wanted(recorder: Recorder) -> Replay:
    """What this fresh sealed process is for: one exact replay, or arms from the start or from the failing step."""
    path = os.environ.get(ARMS)
    if path is None:
        folder, facts = fresh.failure_to_replay()
        if "call" in facts:
            # What makes that call watches for its moment by itself; no mark begins it.
            return Asleep()
        return fresh.FreshReplay(recorder, folder, facts, recorder.session.result_fd)
    with open(path, encoding="utf-8") as file:
        plan: dict[str, Any] = json.load(file)
    return FromFailure(recorder, plan) if plan["from"] == "failure" else FromStart(recorder, plan)


class Asleep(Replay):
    """A process in which no mark means anything."""

    def __init__(self) -> None:
        # Nothing of a step is needed.
        self.window = []

    def matches(self, k: int) -> bool:
        return False

    def unwound(self, k: int, error: BaseException | None) -> bool:
        return False

    def given(self) -> tuple[Any, ...]:
        return ()

    def loss(self, value: torch.Tensor) -> None:
        """Steps of the program on its way to the call are not looked at."""

    def arrived(self, optimizer: torch.optim.Optimizer) -> None:
        """Steps of the program on its way to the call are not looked at."""


class Arms:
    """The forks of one process, one after the other; each writes one line to the process's result."""

    def __init__(self, recorder: Recorder, plan: dict[str, Any]) -> None:
        self.recorder, self.plan = recorder, plan
        self.result = recorder.session.result_fd
        self.end = time.monotonic() + plan["seconds"]

    def split(self) -> Any:
        """In each child, what runs and watches the arm; this process leaves when all arms have ended."""
        impossible = failure.no_fork()
        scratch = os.environ["FIRSTCAUSE_SCRATCH"]
        files = os.path.join(scratch, "files")
        kept = os.path.join(scratch, "before")
        copies.copy_tree(files, kept)
        for arm in self.plan["arms"]:
            if impossible:
                # Only one arm for this process: whoever started it starts another one for the next.
                return self._running(arm)
            left = min(self.plan["arm_seconds"], self.end - time.monotonic())
            if left <= 0:
                self.write({"arm": arm["name"], "ended": "lost", "why": "no time was left for it"})
                continue
            self.recorder.session.forking = True
            outcome = fork.split(scratch, frozenset((self.result,)), left)
            self.recorder.session.forking = False
            if outcome is None:
                # OpenMP of GNU hangs in a forked child, so one thread from here on.
                torch.set_num_threads(1)
                return self._running(arm)
            if outcome.status != "done" or outcome.exit_code != 0:
                why = f"{outcome.status} after {outcome.seconds:.0f} s {outcome.reason}".strip()
                self.write({"arm": arm["name"], "ended": "lost", "why": why})
            # What an arm wrote, the next one must not find.
            copies.remove_tree(files)
            copies.copy_tree(kept, files)
        return leave(0)

    def _running(self, arm: dict[str, Any]) -> Any:
        until = min(self.plan.get("until", self.end), time.monotonic() + self.plan["arm_seconds"])
        plan = self.plan | {"until": until}
        running = elsewhere.named(os.environ["FIRSTCAUSE_DEEP"])(arm, plan, self.recorder)

        def finish(facts: dict[str, Any]) -> None:
            self.write({"arm": arm["name"], **facts})
            leave(0)

        running.finish = finish
        running.start()
        return running

    def write(self, facts: dict[str, Any]) -> None:
        view = memoryview((json.dumps(facts, default=str) + "\n").encode())
        while view:
            view = view[os.write(self.result, view) :]


class FromStart(Replay):
    """Arms from the first mark of any candidate: nothing is rewound, the program goes on."""

    def __init__(self, recorder: Recorder, plan: dict[str, Any]) -> None:
        self.recorder = recorder
        self.arms = Arms(recorder, plan)
        self.after = int(plan.get("after", 0))
        self.passed = 0
        self.running: Any = None

    def matches(self, k: int) -> bool:
        return self.running is None and self.passed >= self.after

    def begin(self, snapshot: Snapshot) -> None:
        self._split()

    def _split(self) -> None:
        self.running = self.arms.split()
        atexit.register(self.running.ended)
        register_optimizer_step_post_hook(lambda optimizer, args, kwargs: self.running.stepped(optimizer))

    def unwound(self, k: int, error: BaseException | None) -> bool:
        return False

    def loss(self, value: torch.Tensor) -> None:
        if self.running is None and not self.after:
            # A loop without a step has no mark: its first backward pass begins the arms.
            self._split()
        if self.running is not None:
            self.running.loss(value)

    def given(self) -> tuple[Any, ...]:
        return ()

    def arrived(self, optimizer: torch.optim.Optimizer) -> None:
        self.passed += 1
        if self.running is not None:
            self.running.arrived(optimizer)

    def unhandled(self, error: BaseException) -> None:
        if self.running is not None:
            self.running.raised(error)


class FromFailure(fresh.FreshReplay):
    """Arms on the saved state of the failing step: the body once, up to the optimizer's step."""

    def __init__(self, recorder: Recorder, plan: dict[str, Any]) -> None:
        folder, facts = fresh.failure_to_replay()
        super().__init__(recorder, folder, facts, recorder.session.result_fd)
        self.arms = Arms(recorder, plan)
        self.running: Any = None

    def begin(self, snapshot: Snapshot) -> None:
        self.running = self.arms.split()
        super().begin(snapshot)

    def adapted(self, values: dict[str, Any]) -> dict[str, Any]:
        changed: dict[str, Any] = self.running.values(values)
        return changed

    def observe(self, view: Any) -> Any:
        return None

    def loss(self, value: torch.Tensor) -> None:
        if self.running is not None:
            self.running.loss(value)

    def arrived(self, optimizer: torch.optim.Optimizer) -> None:
        if self.running is not None:
            self.steps_left -= 1
            self.running.arrived(optimizer)
            if self.steps_left <= 0:
                self.running.ended()

    def ended(self, error: BaseException | None) -> None:
        if isinstance(error, Exception):
            self.running.raised(error)
        self.running.ended()

    def unhandled(self, error: BaseException) -> None:
        if self.running is not None and not isinstance(error, Rewind):
            self.running.raised(error)
