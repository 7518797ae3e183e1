"""nan-in-data: what the step is given already holds a value that is not finite."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.births import settle_by_root, tell
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.first_made import divided_in_program, evidence, first_made
from firstcause.specialists.handed_on import is_drawn
from firstcause.specialists.verdicts import confirmed, inconclusive, refuted

CAUSE = "nan-in-data"


def propose(examination: Examination) -> bool:
    return examination.has_bad_value


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    root = examination.root
    matches = root is not None and shows(root)
    if matches and root is not None and "call" in examination.failure:
        before = "it came with the input of the call, and what made that was done before the call, which was not watched"
        return inconclusive(hypothesis.cause, f"{tell(examination, root)}; {before}")
    if is_given_to_function(examination) and root is not None:
        name = examination.failure["unit"]["function"]
        before = f"`{name}` was called with it, and what its caller made it of was not replayed"
        again = (
            ""
            if examination.lab is not None and examination.lab.allowed()
            else ": `firstcause diagnose --yes` does it"
        )
        return inconclusive(hypothesis.cause, f"{tell(examination, root)}; {before}{again}")
    if matches and root is not None and root.get("whole_columns"):
        return _of_columns(hypothesis, examination, root)
    divided = divided_in_program(examination) if matches else None
    if isinstance(divided, str):
        return inconclusive(hypothesis.cause, f"{tell(examination, root)}; {divided}" if root else divided)
    if divided is not None and divided["divided"]:
        return refuted(hypothesis.cause, evidence(examination, divided, False)[0])
    if matches and root is not None:
        name = (root["origin"].get("input") and f"{root['origin']['input']}, ") or ""
        why = f"{name}{root['rows']} of {(root['output']['shape'] or [1])[0]} rows, the first are {root['first_rows']}"
        return settle_by_root(hypothesis, examination, True, why)
    return settle_by_root(hypothesis, examination, False, "what the step was given is finite")


def is_given_to_function(examination: Examination) -> bool:
    """Whether the bad value came as an argument that the caller of the function with the step may have computed."""
    root, unit = examination.root, examination.failure.get("unit") or {}
    if unit.get("kind") != "function" or root is None or not shows(root):
        return False
    name = str(root["origin"].get("input") or "").partition("[")[0].partition(".")[0]
    if name not in (unit.get("names") or ()):
        return False
    return not is_drawn(examination.project, str(unit.get("function")), int(unit.get("line") or 0), name)


def _of_columns(hypothesis: Hypothesis, examination: Examination, root: Facts) -> Hypothesis:
    """A column that is bad in every row was more likely made so, by a scaling, than found so: the line decides."""
    made = first_made(examination)
    if isinstance(made, str):
        unknown = f"whole columns are bad, and which line made them so is not known: {made}"
        missing = f"{tell(examination, root)}; {unknown}"
        return inconclusive(hypothesis.cause, missing)
    seen, site = evidence(examination, made, not made["divided"])
    if made["divided"]:
        return refuted(hypothesis.cause, seen)
    return confirmed(hypothesis.cause, site, seen)


def shows(root: Facts) -> bool:
    """Whether the first bad value came with the step's data; parameters and buffers are not data."""
    return root["op"] == "source" and "parameter" not in root["origin"]


def facts(examination: Examination) -> Facts:
    root = examination.root or {}
    if root.get("whole_columns"):
        # The watched run has told the line; the flow of the batch's name would tell it less surely.
        made = first_made(examination)
        return {} if isinstance(made, str) else examination.place(made["site"])
    name = (root.get("origin") or {}).get("input")
    return examination.place(root.get("site")) | {
        "name": name or "",
        "whole_columns": root.get("whole_columns", False),
    }
