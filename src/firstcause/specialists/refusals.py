"""Settling a hypothesis about an op that refused its input."""

from __future__ import annotations

from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.moved_along import moved
from firstcause.specialists.verdicts import by_replay, nothing_refused, refuted


def settle_refusal(
    hypothesis: Hypothesis,
    examination: Examination,
    matches: bool,
    text: str,
    values: Facts,
    at: Facts | None = None,
) -> Hypothesis:
    """Confirmed or refuted by what the replay measured at the op that raised; ``at`` is the deeper place, if any."""
    refused = examination.refused or {}
    raised = examination.site(refused.get("site"))
    where = f" at {raised}" if raised else ""
    site = examination.site(at) if at else raised
    return by_replay(hypothesis, examination, matches, f"{refused.get('op')}{where}: {text}", values, site)


def settle_index(hypothesis: Hypothesis, examination: Examination, ids: str, table: str) -> Hypothesis:
    """Confirmed where some of the ``ids`` that an op looked up lie outside of the rows of its ``table``."""
    index = (examination.refused or {}).get("index")
    if index is None:
        return nothing_refused(hypothesis, examination)
    if not index["outside"]:
        return settle_refusal(hypothesis, examination, False, f"all {ids} lie inside of the {table}", index)
    mixed = moved(examination)
    if mixed is not None and mixed.passes:
        site = examination.site(mixed.view["site"])
        text = f"the {table} have all {ids} once the elements of the view at {site} go with their axes"
        return refuted(
            hypothesis.cause, Evidence("counterfactual", False, text, {"steps": len(mixed.ran.rows)}, site)
        )
    rows = f"{index['rows']} (0 to {index['rows'] - 1})"
    outside = f"{index['outside']} of {index['total']} {ids} lie outside of the {table}, {rows}"
    return settle_refusal(
        hypothesis, examination, True, f"{outside}: {index['values']} at {index['at']}", index
    )
