"""Asks a fresh sealed process what a run's loaders would give their workers. No torch here."""

from __future__ import annotations

from typing import Any

from firstcause.lab.counterfactual import NOT_AGREED, SPENT, Lab
from firstcause.lab.looking_on import LEAST_SECONDS, look_on

LOADING = "firstcause.lab.loading.start:start"
# One process does in turn what several workers did beside one another, and each sample is asked for once more.
SLOWER, SLACK, LONGEST = 8.0, 20.0, 70.0


def ask(lab: Lab, raised: str = "", silent: bool = False) -> dict[str, Any] | str:
    """What was ``seen`` of each loader, and how it ``ended``; or why it is not known.

    ``raised`` is the type of the exception that is to be explained; ``silent`` looks for what raises nothing only, which is
    files that workers share.
    """
    if not lab.allowed():
        return NOT_AGREED
    seconds = min(LONGEST, SLACK + SLOWER * (lab.folder.run().seconds or 0.0), lab.seconds_left)
    if seconds < LEAST_SECONDS:
        return SPENT
    plan = {"silent": silent, "raised": raised}
    return look_on(lab, LOADING, plan, seconds, "the process that asked the loaders")
