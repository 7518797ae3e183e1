"""What the audit of a healthy-looking training found, and the same training without it."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import Any

from firstcause.lab.counterfactual import Arm, Lab, Ran
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import mean
from firstcause.specialists.ranked import as_audit

AUDITED = Arm("as it ran, audited", "audit")
STEPS = 60
# The share of its own end by which a measure must fall to be called better.
BETTER = 0.9
# The share of the elements with a gradient that a step leaves as they are.
LOST = 0.5
MOST_CUTS = 4
# The mark in an examination's memory that a cause has been seen by an audit of its own.
ENOUGH = "an audit of one cause was enough"


def audited(lab: Lab) -> Ran:
    """The training, unchanged and watched; where it has several ranks, all of them side by side."""
    if lab.world > 1:
        return as_audit(lab.ranks)
    made = arm(lab)
    return lab.from_start([made], lab.horizon(STEPS))[made.name]


def arm(lab: Lab) -> Arm:
    """The arm that is watched, by all watchers or by those that the lab was made for."""
    if not lab.watch:
        return AUDITED
    return replace(
        AUDITED, name=f"{AUDITED.name} for {', '.join(lab.watch)}", settings={"watch": list(lab.watch)}
    )


def may_audit(examination: Examination) -> bool:
    """Whether the run is one that failed without a word, and the program may be run again."""
    return examination.symptom.kind == "invariant" and examination.lab is not None


def audit(examination: Examination) -> Ran | None:
    """The audit of this run by all watchers; None where it may not be made, or a cheaper one has shown enough."""
    if not may_audit(examination) or examination.lab is None or ENOUGH in examination.memory:
        return None
    return audited(examination.lab)


def pair(found: Ran) -> Facts | None:
    """The first two operands that broadcast where one of them is trained and the other one is compared with it."""
    pairs: list[Facts] = found.facts.get("pairs") or []
    return next((p for p in pairs if sum(p["trained"]) == 1), None)


def cuts(found: Ran) -> list[Facts]:
    """The places that may cut trained modules off from the loss; none where they are too many to be tried."""
    seen: list[Facts] = [c for c in found.facts.get("cuts") or [] if c["training"]]
    return seen if len(seen) <= MOST_CUTS else []


def stuck(found: Ran) -> float | None:
    """The mean share of bfloat16 weights that a step leaves as they are, where it is large; else None."""
    kinds = {k for r in found.rows for k in r.get("dtypes") or ()}
    share = mean(found.column("stuck"))
    return share if "bfloat16" in kinds and share >= LOST else None


def beside(
    lab: Lab, found: Ran, name: str, settings: dict[str, Any], column: str
) -> tuple[Ran, float, float]:
    """The watched training with one thing changed, and what a column comes to at the end without and with it.

    What it comes to is NaN where the changed training is not finite, so that no comparison holds.
    """
    changed = Arm(name, "audit", settings)
    other = lab.from_start([changed], lab.horizon(STEPS))[name]
    return other, end_of(found, column), end_of(other, column) if other.finite else float("nan")


def end_of(ran: Ran, column: str) -> float:
    """The median of a column's last fifth; NaN where it is empty."""
    values = ran.column(column)
    return float(statistics.median(values[-max(3, len(values) // 5) :])) if values else float("nan")
