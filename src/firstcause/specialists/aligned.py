"""Settling a broadcast that nobody wanted: what the refused call says once the two operands have one shape."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.refused_calls import (
    behind,
    broadcast,
    refused_call,
    settle_call,
    squeezed,
    trials,
)
from firstcause.specialists.verdicts import inconclusive, nothing_refused


def tried(examination: Examination, loss: bool) -> bool:
    """Whether a call behind the refusal, or itself where it is a loss, had two such operands."""
    return any(_concerns(t, loss) for t in trials(examination, "align"))


def settle(hypothesis: Hypothesis, examination: Examination, loss: bool) -> Hypothesis:
    """Confirmed where one shape for both lets the refused call pass, refuted where it is refused all the same."""
    asked = [t for t in trials(examination, "align") if _concerns(t, loss)]
    if not asked:
        return nothing_refused(hypothesis, examination)
    kept = [t for t in asked if t["passes"]]
    if not kept:
        text = f"with {asked[0]['shape']} as {asked[0]['other']} it is refused too"
        if asked[0]["instead"]:
            text += f" ({asked[0]['instead'][0]})"
        return settle_call(hypothesis, examination, False, text, _figures(asked[0]))
    if squeezed(examination):
        return inconclusive(
            hypothesis.cause, "the shapes differ because a squeeze had dropped the batch axis of one sample"
        )
    trial = first(examination, loss)
    made = behind(examination, trial["call"]) or {}
    refused = refused_call(examination) or {}
    place = made.get("site") or refused.get("site")
    if trial["call"] < 0:
        what = f"the two hold as many values, in shapes {trial['shape']} and {trial['other']}"
    else:
        what = f"{made['function']} at {examination.site(place)} makes {made.get('shape')} of {_both(trial)}"
    text = f"{what}; with {trial['shape']} as {trial['other']} the same calls pass"
    return settle_call(hypothesis, examination, True, text, _figures(trial), place)


def first(examination: Examination, loss: bool) -> Facts:
    """The first call, in the order of the step, of which the alignment lets the refused one pass."""
    kept = [t for t in broadcast(examination) if _concerns(t, loss)]
    return min(kept, key=lambda t: (t["call"] < 0, t["call"], t["operand"]))


def _concerns(trial: Facts, loss: bool) -> bool:
    # Operands of the refused call itself broadcast nothing: only a loss asks for equal shapes.
    return bool(trial["loss"]) == loss and (loss or trial["call"] >= 0)


def _both(trial: Facts) -> str:
    pair = (trial["shape"], trial["other"])
    return f"{pair[trial['operand']]} and {pair[1 - trial['operand']]}"


def _figures(trial: Facts) -> Facts:
    return {k: trial[k] for k in ("shape", "other", "operand", "passes")}


def facts(examination: Examination, loss: bool) -> Facts:
    """The place of the call, and which operand (0 or 1) passes with which shape; ``only`` where no other way does."""
    trial = first(examination, loss)
    made = behind(examination, trial["call"]) or refused_call(examination) or {}
    ways = [t for t in broadcast(examination) if t["call"] == trial["call"]]
    given = examination.place(made.get("site")) | {
        "function": made.get("function"),
        "operand": trial["operand"],
    }
    # A loss compares pairs alike in either shape; elsewhere the shape of the result depends on which one is changed.
    only = len(ways) == 1 or (trial["call"] < 0 and trial["operand"] == 0)
    return given | {"shape": tuple(trial["shape"]), "other": tuple(trial["other"]), "only": only}
