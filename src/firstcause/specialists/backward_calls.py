"""What stands behind an exception that came out of a backward call: facts of the graph, and how they settle a cause."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import inconclusive

MODIFIED = "has been modified by an inplace operation"
SECOND = "backward through the graph a second time"
NO_GRADIENT = "does not require grad and does not have a grad_fn"
THIS_PASS = "this pass"


def raised(examination: Examination, words: str) -> bool:
    """Whether the failure is an exception that says these words."""
    return examination.symptom.kind == "exception" and words in examination.symptom.message


def graph(examination: Examination) -> Facts | None:
    """The facts of the failing backward call; None where no exact replay gave them."""
    facts: Facts | None = examination.trace.get("graph")
    return facts if facts and examination.replay.get("exact") else None


def no_graph(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    """Inconclusive: the failing backward call was not seen again."""
    why = examination.not_replayed
    if not why and not examination.replay.get("exact"):
        why = f"the failing step was not replayed exactly: {examination.replay.get('why')}"
    missing = why or "the replay raised the exception outside of any backward call"
    return inconclusive(hypothesis.cause, missing)


def first_write(facts: Facts) -> Facts | None:
    """The write that moved the version of the saved tensor on."""
    writes = (facts.get("modified") or {}).get("writes") or []
    return writes[0] if writes else None


def is_update(write: Facts) -> bool:
    """Whether a write is an optimizer's step, or one by hand that is made from gradients."""
    return write["step"] is not None or bool(write["of_gradient"])


def tell_saved(examination: Examination, facts: Facts) -> str:
    """One sentence: which node saved what, where."""
    node, modified = facts["node"], facts["modified"]
    where = examination.site(node["site"])
    at = f" at {where}" if where else ""
    what = f"the parameter {modified['parameter']}" if modified["parameter"] else f"its {modified['slot']}"
    return f"{node['name']}{at} saved {what} {modified['shape']}"
