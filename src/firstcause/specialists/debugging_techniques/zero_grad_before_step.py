"""zero-grad-before-step: gradients are thrown away between the backward pass and the step."""

from __future__ import annotations

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits, gains
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import end
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "zero-grad-before-step"
KEPT = Arm("gradients kept until the step", "keep_until_step")
SHARE, LEAST = 0.9, 3


def losing(found: Ran) -> Facts | None:
    """The course of the optimizer that steps without the gradients that backward had given; None where there is none."""
    courses: list[Facts] = found.facts.get("gradients") or []
    return next((c for c in courses if c["lost"] >= max(LEAST, SHARE * (c["steps"] - 1))), None)


def seen(found: Ran, examination: Examination) -> str | None:
    course = losing(found)
    return _told(course) if course is not None else None


def _told(course: Facts) -> str:
    return (
        f"{course['optimizer']} had no gradient at {course['lost']} of {course['steps']} steps, "
        f"although backward had given one before each of them"
    )


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and losing(found) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    course = losing(found) if found is not None else None
    one = gains.changed(examination, KEPT) if course is not None else None
    if found is None or course is None or one is None:
        return inconclusive(CAUSE, "steps without the gradient that backward had given")
    site = examination.site(course["cleared_at"] or course["step"])
    cleared = f", cleared at {site}" if course["cleared_at"] else ""
    text = f"{_told(course)}{cleared}; kept until the step, {gains.ends(one, found)}"
    values = {k: course[k] for k in ("lost", "steps")} | {"end": end(found), "end_kept": end(one)}
    if not gains.gained(one, found):
        return inconclusive(CAUSE, f"a gain: {text}")
    return confirmed(CAUSE, site, Evidence("counterfactual", True, text, values, site))


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    course = (losing(found) if found is not None else None) or {}
    return {k: examination.place(course.get(k)) for k in ("cleared_at", "step", "backward")}
