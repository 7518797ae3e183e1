"""The call that raised, as the replay saw it, and what passed when it was made again with one thing changed."""

from __future__ import annotations

from typing import Any

from firstcause.schema import Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import by_replay


def refused_call(examination: Examination) -> Facts | None:
    """The call that raised; None where the failure is no exception, or was not replayed."""
    call = examination.trace.get("call")
    is_known = examination.symptom.kind == "exception" and call and "failed" not in call
    return call if is_known else None


def trials(examination: Examination, change: str, **wanted: Any) -> list[Facts]:
    """What was tried with one kind of change, those only that have the ``wanted`` values."""
    call = refused_call(examination) or {}
    found = [t for t in call.get("trials") or [] if t["change"] == change]
    return [t for t in found if all(t.get(k) == v for k, v in wanted.items())]


def passing(examination: Examination, change: str, **wanted: Any) -> list[Facts]:
    """The changes of one kind with which the refused call passes."""
    return trials(examination, change, passes=True, **wanted)


def behind(examination: Examination, number: int | None) -> Facts | None:
    """A call of the step by its number, where the refused one depends on it."""
    calls: Facts = (refused_call(examination) or {}).get("calls") or {}
    found: Facts | None = calls.get(str(number))
    return found


def operand(call: Facts, number: int) -> Facts:
    """An operand of the refused call by its number; empty where it has no such one."""
    operands = call.get("operands") or []
    found: Facts = operands[number] if 0 <= number < len(operands) else {}
    return found


def said(call: Facts) -> str:
    """The first line of what the refused call said."""
    return str(call["error"]).splitlines()[0]


def dtypes_of(call: Facts) -> Facts:
    """The dtype of each operand of a call, by its role or number."""
    return {str(o.get("role") or k): o.get("dtype") for k, o in enumerate(call["operands"])}


def squeezed(examination: Examination) -> list[Facts]:
    """The squeezes of a step of one sample without which the refused call passes."""
    kept = passing(examination, "squeeze", one_sample=True)
    of_batch = [t for t in kept if t["batch_axis"] == t["axis"]]
    return of_batch or [t for t in kept if t["batch_axis"] is None]


def broadcast(examination: Examination) -> list[Facts]:
    """The operands of earlier calls with which the refused one passes, once they have the shape of their partner."""
    return passing(examination, "align")


def earlier(examination: Examination) -> str:
    """What had happened to a shape before the refused call, and explains the refusal; empty where nothing had."""
    call = refused_call(examination)
    for trial in squeezed(examination) if call else []:
        made = behind(examination, trial["call"]) or {}
        return f"a squeeze of {trial['shape']} at {examination.site(made.get('site'))} had dropped the batch axis before"
    for trial in broadcast(examination) if call else []:
        made = behind(examination, trial["call"]) or {}
        where = f"{made.get('function')} at {examination.site(made.get('site'))}"
        return f"{where} had broadcast {trial['shape']} with {trial['other']} to {made.get('shape')} before"
    return ""


def settle_call(
    hypothesis: Hypothesis,
    examination: Examination,
    matches: bool,
    text: str,
    values: Facts,
    at: Facts | None = None,
) -> Hypothesis:
    """Confirmed or refuted by what the replay measured at the call that raised; ``at`` is the deeper place, if any."""
    call = refused_call(examination) or {}
    raised = examination.site(call.get("site"))
    site = examination.site(at) if at else raised
    name = call.get("function") or call.get("type")
    where = f" at {raised}" if raised else ""
    return by_replay(hypothesis, examination, matches, f"{name}{where}: {text}", values, site)
