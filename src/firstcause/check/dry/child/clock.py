"""The end of the time: told between operators, since an exception inside of torch's own calls would end the process."""

from __future__ import annotations

import os
import signal
import time
from types import FrameType
from typing import Any

TORCH = os.sep + "torch" + os.sep
over = False


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
    """Raise ``TimeUp`` if it is time; called before each operator."""
    if over:
        raise TimeUp


def _ring(number: int, frame: Any) -> None:
    global over
    over = True
    here: FrameType | None = frame
    while here is not None:
        if TORCH in here.f_code.co_filename:
            return
        here = here.f_back
    raise TimeUp
