"""nan-in-data: what the step is given already holds a value that is not finite."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.births import settle_by_root, tell
from firstcause.specialists.examination import Examination, Facts

CAUSE = "nan-in-data"


def propose(examination: Examination) -> bool:
    return examination.symptom.kind == "nan" or examination.root is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    root = examination.root
    matches = root is not None and shows(root)
    if matches and root is not None and root.get("whole_columns"):
        # A column that is bad in every row was more likely made so, by a scaling, than found so.
        unknown = "whole columns are bad, and whether they were so before they were scaled is not known"
        missing = f"{tell(examination, root)}; {unknown}"
        return Hypothesis(CAUSE, None, 0, "inconclusive", (), missing)
    if matches and root is not None:
        name = (root["origin"].get("input") and f"{root['origin']['input']}, ") or ""
        why = f"{name}{root['rows']} of {(root['output']['shape'] or [1])[0]} rows, the first are {root['first_rows']}"
        return settle_by_root(hypothesis, examination, True, why)
    return settle_by_root(hypothesis, examination, False, "what the step was given is finite")


def shows(root: Facts) -> bool:
    """Whether the first bad value came with the step's data; parameters and buffers are not data."""
    return root["op"] == "source" and "parameter" not in root["origin"]


def facts(examination: Examination) -> Facts:
    root = examination.root or {}
    name = (root.get("origin") or {}).get("input")
    return examination.place(root.get("site")) | {
        "name": name or "",
        "whole_columns": root.get("whole_columns", False),
    }
