"""The same steps with one thing changed, and what they cost: asked for and read from here, without torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from firstcause.lab.counterfactual import NOT_AGREED, REWRITE, SPENT, Arm, Lab, Ran, lost, read
from firstcause.lab.sealed import run_sealed

RUNNING = "firstcause.lab.pace:Running"
# Starting Python and torch, and the program's construction.
START_SECONDS = 8.0
# A rewritten program that is that many times slower is no answer.
SLOWER = 2.0


def measure(
    lab: Lab,
    arms: Sequence[Arm],
    steps: int,
    limit: float,
    statements: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Ran]:
    """Each arm from the program's first mark, for ``steps`` steps or ``limit`` seconds of processor time.

    ``statements`` are changed in the text as it is compiled (``lab/rewriting``). An arm's facts are those of ``lab/pace``.
    """
    if not lab.allowed():
        return lost(arms, NOT_AGREED)
    left = lab.seconds_left
    if left < START_SECONDS:
        return lost(arms, SPENT)
    plan = {
        "from": "start",
        "steps": steps,
        "limit": limit,
        "arms": [{"name": a.name, "change": "control", "settings": a.settings} for a in arms],
        "seconds": left,
        # On a machine that others use too, a second of processor time takes longer than one.
        "arm_seconds": left,
    }
    extra = {"FIRSTCAUSE_DEEP": RUNNING} | ({"FIRSTCAUSE_REWRITE": REWRITE} if statements else {})
    files: dict[str, Any] = {"FIRSTCAUSE_ARMS": plan, "FIRSTCAUSE_STATEMENTS": [dict(s) for s in statements]}
    try:
        ended = run_sealed(lab.folder, extra, files, left)
    except OSError as error:
        return lost(arms, f"it could not be started: {error}")
    found = lost(arms, ended.said or "it ended without a word")
    return found | {r.name: r for r in map(read, ended.results)}
