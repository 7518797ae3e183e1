"""The program once more in a sealed process under a line trace: the lines that first make a bad value. No torch here."""

from __future__ import annotations

from typing import Any

from firstcause.lab.counterfactual import NOT_AGREED, SPENT, Lab
from firstcause.lab.looking_on import LEAST_SECONDS, look_on

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
    if seconds < LEAST_SECONDS or not unit:
        return SPENT if unit else "the failing step lies in no loop that is known"
    plan = {
        "file": unit["file"],
        "line": unit["line"],
        "libraries": [n for n in (lab.folder.run().versions or {}) if n in KNOWN],
        "passes": int(lab.failure.get("step") or 0) + 2,
    }
    return look_on(lab, WATCH, plan, seconds, "the watched run")
