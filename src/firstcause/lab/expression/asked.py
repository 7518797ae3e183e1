"""One expression followed through a step in a fresh sealed process: started and read from here, without torch."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from firstcause.errors import RecordError
from firstcause.lab.expression.spelled import Spelled
from firstcause.lab.sealed import failing_step, run_sealed, unsaved
from firstcause.record.folder import RunFolder

OBSERVER = "firstcause.lab.expression.way:Way"
STEPS = "firstcause.lab.expression.way:Step"
EXPRESSION = "FIRSTCAUSE_EXPRESSION"


@dataclass(frozen=True)
class Way:
    """The rows of a value's way in order of time, the functions that it was met in, and how exact the step was."""

    expression: str
    step: int
    rows: tuple[dict[str, Any], ...]
    functions: tuple[str, ...]
    exact: bool | None
    why: str = ""
    left_out: int = 0


def follow(folder: RunFolder, spelled: Spelled, seconds: float, step: int | None = None) -> Way:
    """The way of a value through the kept failing step, or through step ``step``, of which the first is 0.

    Raises ``RecordError`` where the step cannot be replayed or the expression has no value in it.
    """
    failure = next((f for f in folder.failures() if not unsaved(f)), None)
    if step is None and failure is not None:
        extra = failing_step(folder, failure) | {"FIRSTCAUSE_DEEP": OBSERVER}
        if "call" in failure:
            extra["FIRSTCAUSE_CALL"] = "as recorded"
        plans, number = {}, int(failure["step"])
    else:
        number = step or 0
        extra = {"FIRSTCAUSE_DEEP": STEPS}
        arms = [{"name": "as it ran", "change": "control", "settings": {}}]
        plan = {"from": "start", "steps": 1, "after": number, "arms": arms}
        plans = {"FIRSTCAUSE_ARMS": plan | {"seconds": seconds, "arm_seconds": seconds}}
    try:
        ended = run_sealed(folder, extra, plans | {EXPRESSION: asdict(spelled)}, seconds)
    except OSError as error:
        raise _not_followed(f"the fresh process could not be started: {error}") from error
    facts = next((f for f in ended.results if f), {})
    trace: dict[str, Any] = facts.get("trace") or {}
    if "rows" not in trace:
        why = facts.get("why") or ended.said or "the process ended without a word"
        raise _not_followed(
            f"the program ended before step {number}" if ended.code == 0 and not facts else why
        )
    if not trace["rows"]:
        raise RecordError(
            "trace-nothing",
            f"{spelled.text} has no value in step {number}: no line of the step's functions reads or writes {spelled.root}"
            + (f" in the function at {spelled.file}:{spelled.line}" if spelled.file else ""),
            "name a value as the program spells it inside its step, such as loss or self.hidden",
        )
    rows, functions = tuple(trace["rows"]), tuple(trace["functions"])
    return Way(
        spelled.text, number, rows, functions, facts.get("exact"), facts.get("why", ""), trace["left_out"]
    )


def _not_followed(why: str) -> RecordError:
    return RecordError(
        "nothing-to-replay",
        f"the step cannot be followed: {why}",
        "firstcause replay shows how far it goes",
    )
