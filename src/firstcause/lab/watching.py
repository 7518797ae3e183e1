"""The program once more in a sealed process under a line trace: the lines that first make a bad value. No torch here."""

from __future__ import annotations

import json
from typing import Any

from firstcause.lab.counterfactual import NOT_AGREED, SPENT, Lab
from firstcause.lab.sealed import run_sealed

WATCH = "firstcause.lab.watch:start"
# A line trace makes Python some ten times slower.
KNOWN = ("torch", "numpy", "pandas", "scipy", "sklearn", "torchvision", "transformers", "lightning")
SLOWER, SLACK, LONGEST = 10.0, 10.0, 45.0


def watch(lab: Lab) -> dict[str, Any] | str:
    """The ``events`` of a watched run up to the failing step, in order; or why there are none."""
    if not lab.allowed():
        return NOT_AGREED
    seconds = min(LONGEST, SLACK + SLOWER * (lab.folder.run().seconds or 0.0), lab.seconds_left)
    unit = lab.failure.get("unit") or {}
    if seconds < 5 or not unit:
        return SPENT if unit else "the failing step lies in no loop that is known"
    plan = {
        "seconds": seconds - 3,
        "file": unit["file"],
        "line": unit["line"],
        "libraries": [n for n in (lab.folder.run().versions or {}) if n in KNOWN],
        "passes": int(lab.failure.get("step") or 0) + 2,
    }
    # No arms, after more steps than any run has: the recorder of that process only looks on.
    idle = {"from": "start", "steps": 1, "after": 1 << 60, "arms": [], "seconds": seconds, "arm_seconds": 0}
    files = {"FIRSTCAUSE_WATCH": plan, "FIRSTCAUSE_ARMS": idle}
    try:
        ended = run_sealed(lab.folder, {"FIRSTCAUSE_DEEP": WATCH}, files, seconds)
        found: dict[str, Any] = json.loads(ended.lines[-1]) if ended.lines else {}
    except (OSError, ValueError) as error:
        return f"the watched run could not be read: {error}"
    return found or f"the watched run ended without a word: {ended.said}"
