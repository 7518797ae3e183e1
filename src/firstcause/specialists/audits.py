"""What the audit of a healthy-looking training found, and the same training without it."""

from __future__ import annotations

import statistics

from firstcause.lab.counterfactual import Arm, Lab, Ran
from firstcause.specialists.examination import Examination, Facts

AUDITED = Arm("as it ran, audited", "audit")
STEPS = 60
# The share of its own end by which a measure must fall to be called better.
BETTER = 0.9


def audited(lab: Lab) -> Ran:
    """The first steps of the training, unchanged and watched."""
    return lab.from_start([AUDITED], STEPS)[AUDITED.name]


def audit(examination: Examination) -> Ran | None:
    """The audit of this run; None where the failure is another one, or the program may not be run again."""
    if examination.symptom.kind != "invariant" or examination.lab is None:
        return None
    return audited(examination.lab)


def pair(found: Ran) -> Facts | None:
    """The first two operands that broadcast where one of them is trained and the other one is compared with it."""
    pairs: list[Facts] = found.facts.get("pairs") or []
    return next((p for p in pairs if sum(p["trained"]) == 1), None)


def cut(found: Ran) -> Facts | None:
    """The one place that cuts trained modules off from the loss; None where there are several, or none."""
    cuts: list[Facts] = [c for c in found.facts.get("cuts") or [] if c["training"]]
    return cuts[0] if len(cuts) == 1 else None


def end_of(ran: Ran, column: str) -> float:
    """The median of a column's last fifth; NaN where it is empty."""
    values = ran.column(column)
    return float(statistics.median(values[-max(3, len(values) // 5) :])) if values else float("nan")
