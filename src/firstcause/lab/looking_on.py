"""The program once more in a sealed process whose recorder only looks on, for what a watcher of ours sees. No torch here."""

from __future__ import annotations

import json
from typing import Any

from firstcause.lab.counterfactual import Lab
from firstcause.lab.sealed import run_sealed

# Starting Python and torch takes longer than less.
LEAST_SECONDS = 5.0
# What the watcher leaves of its time, to write down what it saw.
WRITING = 3.0


def look_on(lab: Lab, watcher: str, plan: dict[str, Any], seconds: float, who: str) -> dict[str, Any] | str:
    """What ``watcher`` wrote in the end; or why there is nothing, said of ``who``."""
    # No arms, after more steps than any run has.
    idle = {"from": "start", "steps": 1, "after": 1 << 60, "arms": [], "seconds": seconds, "arm_seconds": 0}
    files = {"FIRSTCAUSE_WATCH": plan | {"seconds": seconds - WRITING}, "FIRSTCAUSE_ARMS": idle}
    try:
        ended = run_sealed(lab.folder, {"FIRSTCAUSE_DEEP": watcher}, files, seconds)
        found: dict[str, Any] = json.loads(ended.lines[-1]) if ended.lines else {}
    except (OSError, ValueError) as error:
        return f"{who} could not be read: {error}"
    return found or f"{who} ended without a word: {ended.said}"
