"""The time of the program alone: processor time, the waits that it asked for, without what looking on took."""

from __future__ import annotations

import time

# Waits that were asked for and, in a sealed process, not waited for.
slept = 0.0
# Seconds of processor time that our own looking took.
spent = 0.0
# How often a loader has been asked for a new pass over its data.
passes = 0


def now() -> float:
    return time.process_time() + slept - spent


def sleep(seconds: float) -> None:
    global slept
    slept += seconds


def spend(seconds: float) -> None:
    global spent
    spent += seconds


def begin_pass() -> None:
    global passes
    passes += 1
