"""Asks a fresh sealed process what a run's loaders would give their workers. No torch here."""

from __future__ import annotations

import json
from typing import Any

from firstcause.lab.counterfactual import NOT_AGREED, SPENT, Lab
from firstcause.lab.sealed import run_sealed

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
    if seconds < 5:
        return SPENT
    plan = {"seconds": seconds - 3, "silent": silent, "raised": raised}
    # No arms, after more steps than any run has: the recorder of that process only looks on.
    idle = {"from": "start", "steps": 1, "after": 1 << 60, "arms": [], "seconds": seconds, "arm_seconds": 0}
    files = {"FIRSTCAUSE_WATCH": plan, "FIRSTCAUSE_ARMS": idle}
    try:
        ended = run_sealed(lab.folder, {"FIRSTCAUSE_DEEP": LOADING}, files, seconds)
        found: dict[str, Any] = json.loads(ended.lines[-1]) if ended.lines else {}
    except (OSError, ValueError) as error:
        return f"what the loaders give could not be read: {error}"
    return found or f"the process that asked the loaders ended without a word: {ended.said}"
