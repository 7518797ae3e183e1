"""What is done once for each kind of failing call: written down, captured, and replayed in a sealed child if it may be."""

from __future__ import annotations

import linecache
import os
import sys
import threading
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from firstcause.record.observe import call_replay, call_saved, exceptions, failure, units
from firstcause.record.observe.call import Call, outputs_of
from firstcause.record.observe.call_sites import SITES
from firstcause.record.observe.dead_device import is_dead
from firstcause.record.observe.guard import unseen
from firstcause.record.observe.marks import CANDIDATES
from firstcause.record.observe.ranges import ranges
from firstcause.record.observe.reachable import Reachable, is_own_class, reach
from firstcause.record.observe.stopped import Stop, stopped

if TYPE_CHECKING:
    from firstcause.record.observe.calls import Calls
    from firstcause.record.observe.recorder import Recorder

SECONDS = 30.0
LATER = ": run `firstcause diagnose --yes`, which makes the call again in a fresh process"
# Somebody waits for the answer of what these modules call; they are not made to wait for a replay.
ANSWERING = (
    "socketserver",
    "asyncio",
    "wsgiref",
    "uvicorn",
    "gunicorn",
    "werkzeug",
    "tornado",
    "aiohttp",
    "starlette",
)


def exception(watch: Calls, call: Call, error: Exception, frame: FrameType) -> None:
    """An exception that leaves a call: a failure, unless a training loop has it or the program foresaw it."""
    key = failure.key_of(error)
    if key in watch.seen:
        watch.is_new(key)
        return
    if _in_training(watch, frame):
        return
    stop = stopped(error, frame)
    if stop is not None and stop.how == "foreseen":
        # The program knows what to do about it: it is no failure, and nothing is captured.
        watch.session.journal.event(
            "foreseen", exception=exceptions.describe(error)[:1], by=[stop.file, stop.line]
        )
        return
    if watch.is_new(key):
        _capture(watch, call, frame, _raised(key, error, stop), error, None)


def not_finite(watch: Calls, call: Call, value: Any) -> None:
    """A call whose output holds NaN or infinity, in a process that trains nothing."""
    site = SITES[call.s]
    frame = next((f for f, _ in units.stack(sys._getframe(1)) if id(f) == call.frame_id), None)
    if frame is not None and watch.is_new(("nan", site.s)):
        outputs = [_counted(t) for t in outputs_of(value)]
        facts = {"kind": "nan", "outputs": outputs, "key": ["nan", site.s]}
        _capture(watch, call, frame, facts, None, value)


def late(watch: Calls, error: Exception, frame: FrameType) -> None:
    """An exception beside a call: only a device tells of what happened in an earlier one."""
    key = failure.key_of(error)
    if is_dead(error) and watch.lately and not _in_training(watch, frame):
        stop = stopped(error, frame)
        if watch.is_new(key):
            _capture(watch, watch.lately[-1], frame, _raised(key, error, stop), error, None)


def _raised(key: tuple[str, int], error: Exception, stop: Stop | None) -> dict[str, Any]:
    handled = {"by": stop.file, "line": stop.line} if stop is not None else None
    return {
        "kind": "exception",
        "exception": exceptions.describe(error),
        "handled": handled,
        "key": list(key),
    }


def _capture(
    watch: Calls, call: Call, frame: FrameType, facts: dict[str, Any], error: Exception | None, value: Any
) -> None:
    session, site = watch.session, SITES[call.s]
    dead = is_dead(error)
    around = _around(watch, call, frame, dead)
    path = next((p for p, m in around.modules.items() if m is call.owner), None)
    facts |= {"step": None, "name": f"{os.getpid()}-call{len(watch.seen)}", "unit": None, "losses": []}
    facts["call"] = {
        "file": site.path,
        "line": site.line,
        "function": site.function,
        "text": linecache.getline(site.path, site.line).strip(),
        "key": site.key,
        "model": type(call.owner).__name__,
        "path": path,
        "number": call.number,
        "thread": threading.current_thread().name,
        # Of a device that has failed, only what was copied before.
        "inputs": ranges(((str(k), v) for k, v in call.arguments), call.hosts if dead else None),
    }
    facts["not_replayable"] = _why_not_here(call)
    facts["snapshot"] = f"snapshots/{facts['name']}"
    with unseen():
        facts["not_saved"] = call_saved.write(
            call, path, value, os.path.join(session.folder, facts["snapshot"]), dead
        )
    result = failure.split_off(session, "failures", facts, SECONDS)
    if result is not None:
        recorder = session.ready()
        assert recorder is not None
        call_replay.CallReplay(recorder, around, facts, result, error, value).run(call, frame)


def _around(watch: Calls, call: Call, frame: FrameType, dead: bool) -> Reachable:
    finder = watch.session.finder

    def own(kind: type) -> bool:
        return finder is not None and is_own_class(kind, finder.is_project_file)

    found = reach(frame, own)
    if isinstance(call.owner, torch.nn.Module) and not any(m is call.owner for m in found.modules.values()):
        found.modules["model"] = call.owner
    return found


def _in_training(watch: Calls, frame: FrameType) -> bool:
    """Whether the unit of training is on the stack: it has its own replay, and its own word on what leaves it."""
    recorder: Recorder | None = watch.session.recorder
    if recorder is None or recorder.unit is None:
        return False
    unit = CANDIDATES[recorder.unit]
    return any(
        f.f_code.co_filename == unit.path and unit.line <= line <= unit.end_line
        for f, line in units.stack(frame)
    )


def _why_not_here(call: Call) -> str:
    impossible = failure.no_fork()
    if impossible:
        return impossible.replace("the step", "the call").partition(":")[0] + LATER
    named = (f.f_globals.get("__name__", "") for f, _ in units.stack(sys._getframe(1)))
    answering = next((n.partition(".")[0] for n in named if str(n).partition(".")[0] in ANSWERING), None)
    if answering is not None:
        return f"somebody waits for the answer of the request ({answering}){LATER}"
    return "an input was written in place since the call began" if call.written() else ""


def _counted(output: torch.Tensor) -> dict[str, Any]:
    plain = output.detach()
    return {
        "shape": list(plain.shape),
        "nan": int(torch.isnan(plain).sum()),
        "inf": int((plain == float("inf")).sum()),
        "-inf": int((plain == float("-inf")).sum()),
        "total": plain.numel(),
    }
