"""The end of the time: told between functions of torch, since an exception inside of one would end the process."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

TORCH = os.sep + "torch" + os.sep
over = False
# How deep we are in torch's engine, which does not survive that the time is told in it.
engines = 0


class TimeUp(BaseException):
    """The budget is used up."""


def start(seconds: float, until: float) -> None:
    """Count processor time, and the clock up to ``until`` (monotonic); again and again, since a program may catch it."""
    signal.signal(signal.SIGPROF, _ring)
    signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.5)
    signal.setitimer(signal.ITIMER_REAL, max(0.1, until - time.monotonic()), 0.5)


def stop() -> None:
    """No more time is counted: what is left is ours."""
    global over
    over = False
    for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
        signal.setitimer(timer, 0)


def look() -> None:
    """Raise ``TimeUp`` if it is time; called before each function of torch."""
    if over and not engines:
        raise TimeUp


@contextmanager
def engine() -> Iterator[None]:
    """While torch's engine runs; if it is time, that is told behind it."""
    global engines
    engines += 1
    try:
        yield
    finally:
        engines -= 1
    look()


def _ring(number: int, frame: Any) -> None:
    global over
    over = True
    here: FrameType | None = frame
    while here is not None:
        if TORCH in here.f_code.co_filename:
            return
        here = here.f_back
    raise TimeUp
