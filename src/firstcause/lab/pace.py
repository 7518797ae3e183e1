"""One arm of a comparison of speeds, seen from inside: the processor's time of each step, and where it was spent.

Runs in a sealed child, where loaders draw in the process itself: all the work counts, and how busy the machine is does not.
A wait that is asked for (``time.sleep``) is counted as asked, and not waited for. With ``sampled`` the program's lines are
looked at every few milliseconds of processor time. Times begin when the first step is over: it is the first entry, 0.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from firstcause.lab import compilations, own_time, places

if TYPE_CHECKING:
    from firstcause.record.observe.recorder import Recorder

INTERVAL = 0.004
# Steps that are waited for past the limit, up to so many times of it.
LEAST_STEPS, LONGEST = 12, 4.0
DEEPEST, MOST_STACKS = 14, 400
LOADER = os.path.join("utils", "data", "dataloader.py")
CALLED = os.path.join("nn", "modules", "module.py")
OPTIMIZER = os.path.join("torch", "optim", "")


class Running:
    """What ``branch`` tells of the program, and the time at which it does; ``finish`` ends the process."""

    def __init__(self, arm: dict[str, Any], plan: dict[str, Any], recorder: Recorder) -> None:
        self.settings: dict[str, Any] = arm.get("settings") or {}
        self.most = int(plan["steps"])
        self.limit = float(plan["limit"])
        self.losses: list[float] = []
        self.times: list[float] = []
        self.stacks: Counter[tuple[Any, ...]] = Counter()
        self.waits: Counter[tuple[Any, ...]] = Counter()
        self.compiled = compilations.Compilations()
        self.finish: Callable[[dict[str, Any]], None]

    def start(self) -> None:
        # Before torch 2.6 there is no stance: the arm is then as compiled as the program, and shows no gain.
        if self.settings.get("eager") and hasattr(torch.compiler, "set_stance"):
            torch.compiler.set_stance("force_eager")
        self.compiled.start()
        sleep = time.sleep

        def slept(seconds: float) -> None:
            sleep(seconds)
            own_time.sleep(float(seconds))
            if self.settings.get("sampled"):
                self.waits[self._stack(sys._getframe(1))] += int(float(seconds) / INTERVAL) or 1

        time.sleep = slept  # type: ignore[assignment]
        self._follow_passes()
        self.began = own_time.now()
        if self.settings.get("sampled"):
            signal.signal(signal.SIGPROF, self._sample)
            signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)

    def _follow_passes(self) -> None:
        loader: Any = torch.utils.data.DataLoader
        begin = loader.__iter__

        def begun(asked: Any) -> Any:
            own_time.begin_pass()
            return begin(asked)

        loader.__iter__ = begun

    # ------------------------------------------------------------------ where the time goes

    def _sample(self, number: int, frame: FrameType | None) -> None:
        at = time.process_time()
        stack = self._stack(frame)
        if len(self.stacks) < MOST_STACKS or stack in self.stacks:
            self.stacks[stack] += 1
        own_time.spend(time.process_time() - at)

    def _stack(self, frame: FrameType | None) -> tuple[Any, ...]:
        """The program's frames, innermost first, and the part of the step: data, backward, optimizer or other."""
        found: list[tuple[str, int, str]] = []
        part, called = "", -1
        while frame is not None and len(found) < DEEPEST:
            path = frame.f_code.co_filename
            if places.is_user_file(path):
                found.append((path, _line(frame), frame.f_code.co_name))
            elif path.endswith(LOADER) and frame.f_code.co_name == "__next__":
                part = part or "data"
            elif frame.f_code.co_name == places.ENGINE:
                part = part or "backward"
            elif OPTIMIZER in path:
                part = part or "optimizer"
            elif path.endswith(CALLED) and frame.f_code.co_name.endswith("_call_impl"):
                # How many of the program's frames lie within the call of a module.
                called = len(found)
            frame = frame.f_back
        return (part or "other", called, tuple(found))

    # ------------------------------------------------------------------ what the program does

    def values(self, values: dict[str, Any]) -> dict[str, Any]:
        return values

    def loss(self, value: Any) -> None:
        at = time.process_time()
        if isinstance(value, torch.Tensor) and len(self.losses) <= len(self.times):
            with torch.no_grad():
                self.losses.append(float(value.detach().float().mean()))
        own_time.spend(time.process_time() - at)

    def arrived(self, optimizer: torch.optim.Optimizer) -> None:
        """Gradients are complete."""

    def _warm(self) -> None:
        """The first step is over: imports, allocations and what is built once are no part of a step's time."""
        self.stacks.clear()
        self.waits.clear()
        kept = sys.modules.get("firstcause.lab.kept_results")
        if kept is not None:
            kept.forget_times()
        self.began = own_time.now()

    def stepped(self, optimizer: torch.optim.Optimizer) -> None:
        if not self.times:
            self._warm()
        now = own_time.now() - self.began
        self.times.append(now)
        self.compiled.stepped(len(self.times))
        # Looking on takes time too: at most as much as the steps.
        spent = max(now, own_time.spent)
        if len(self.times) < LEAST_STEPS and spent < LONGEST * self.limit:
            return
        if len(self.times) >= self.most or spent >= self.limit:
            self.end("steps")

    def raised(self, error: BaseException) -> None:
        self.end("exception", {"type": type(error).__name__, "message": str(error)[:500]})

    def ended(self) -> None:
        self.end("program")

    def end(self, how: str, exception: dict[str, Any] | None = None) -> None:
        if self.settings.get("sampled"):
            signal.setitimer(signal.ITIMER_PROF, 0.0)
        total = own_time.now() - self.began
        kept = sys.modules.get("firstcause.lab.kept_results")
        pieces = {str(n): s.facts() for n, s in kept.PIECES.items()} if kept else {}
        stacks = [
            {"count": n, "part": s[0], "called": s[1], "frames": [list(f) for f in s[2]]}
            for s, n in (self.stacks + self.waits).most_common(MOST_STACKS)
        ]
        rows = [{"loss": x if math.isfinite(x) else None} for x in self.losses]
        facts = {
            "times": self.times,
            "total": total,
            "slept": own_time.slept,
            "passes": own_time.passes,
            "stacks": stacks,
            "pieces": pieces,
            "compiled": self.compiled.facts(),
        }
        self.finish({"ended": how, "rows": rows, "exception": exception, "facts": facts})


def _line(frame: FrameType) -> int:
    """The line that a frame is at; where its instruction belongs to none, as the jump back of a loop, the line before it."""
    if frame.f_lineno:
        return frame.f_lineno
    code, last = frame.f_code, frame.f_lasti
    return (
        max((s, line) for s, _, line in code.co_lines() if line and s <= last)[1]
        if last >= 0
        else code.co_firstlineno
    )
