"""``run --on-nan``: what becomes of the program once a failing step is written down. Without it, nothing does.

``stop`` raises SystemExit where the optimizer is about to step: ``finally``, ``with`` and ``atexit`` of the program run
as at any other exit, and its code is 86. ``pause`` waits there, until SIGCONT, a line at the terminal, or a limit.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any

VARIABLE, LIMIT = "FIRSTCAUSE_ON_NAN", "FIRSTCAUSE_PAUSE_SECONDS"
STOPPED = 86
PAUSE_SECONDS = 3600.0
POLL = 0.2


def act(facts: dict[str, Any], journal: Any) -> None:
    """Stop or pause, as was asked for when the run began; raises ``SystemExit`` to stop the program."""
    wanted = os.environ.get(VARIABLE)
    if wanted == "stop":
        _stop(facts, journal)
    elif wanted == "pause":
        _pause(facts, journal)


def _stop(facts: dict[str, Any], journal: Any) -> None:
    _note(journal, f"stopped before step {facts['step']} (--on-nan stop)")
    _say(f"stopped before step {facts['step']}: {told(facts)} (--on-nan stop, exit code {STOPPED})")
    if threading.current_thread() is not threading.main_thread():
        # An exception would end this thread alone.
        os.kill(os.getpid(), signal.SIGTERM)
    raise SystemExit(STOPPED)


def _pause(facts: dict[str, Any], journal: Any) -> None:
    limit = _limit()
    _note(journal, f"paused before step {facts['step']} (--on-nan pause)")
    main = threading.current_thread() is threading.main_thread()
    ways = ([f"kill -CONT {os.getpid()}"] if main else []) + (["Enter at this terminal"] if _reads() else [])
    _say(
        f"paused before step {facts['step']} in process {os.getpid()}: {told(facts)}; "
        f"to go on: {' or '.join(ways) or 'wait'}; it goes on by itself after {limit:g} s"
    )
    began = time.monotonic()
    how = _wait(began + limit, main)
    _note(journal, f"went on after {time.monotonic() - began:.1f} s: {how}")
    _say(f"goes on with step {facts['step']} after {time.monotonic() - began:.1f} s: {how}")


def _wait(end: float, main: bool) -> str:
    told_to: list[int] = []

    def go_on(number: int, frame: FrameType | None) -> None:
        told_to.append(number)

    before = signal.signal(signal.SIGCONT, go_on) if main else None
    try:
        while time.monotonic() < end:
            if told_to:
                return "SIGCONT"
            if not _reads():
                time.sleep(POLL)
            elif select.select([0], [], [], POLL)[0]:
                os.read(0, 4096)
                return "a key"
        return "the limit"
    finally:
        if main:
            signal.signal(signal.SIGCONT, before)


def told(facts: dict[str, Any]) -> str:
    """What is not finite, in words."""
    bad = facts["bad_gradients"]
    return f"{len(bad)} of {facts['gradients']} gradients are not finite" if bad else "the loss is not finite"


def _reads() -> bool:
    """Whether somebody at a terminal could type to this process."""
    with contextlib.suppress(OSError):
        return os.isatty(0) and os.tcgetpgrp(0) == os.getpgrp()
    return False


def _limit() -> float:
    try:
        return max(0.0, float(os.environ[LIMIT]))
    except (KeyError, ValueError):
        return PAUSE_SECONDS


def _note(journal: Any, text: str) -> None:
    with contextlib.suppress(OSError):
        # A full disk keeps nobody from stopping.
        journal.event("note", text=text)


def _say(text: str) -> None:
    """One line on the program's standard error, after what it has written there itself."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
    with contextlib.suppress(OSError):
        # Closed or full: the program goes on as it was asked to.
        os.write(2, f"firstcause: {text}\n".encode())
