"""missing-zero-grad: steps use the gradients of earlier steps with their own."""

from __future__ import annotations

import ast

from firstcause.lab.counterfactual import CONTROL, Arm, Lab, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits, gains
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import end
from firstcause.specialists.trajectories import Trajectories, trajectories, worth_asking
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "missing-zero-grad"
CLEARED = Arm("gradients cleared before each backward", "clear_after_step")
# The share of the steps that must hold an older gradient, and the fewest steps that tell.
SHARE, LEAST = 0.5, 3


def carrying(found: Ran) -> Facts | None:
    """The course of the optimizer whose steps hold gradients of earlier ones; None where there is none."""
    courses: list[Facts] = found.facts.get("gradients") or []
    return next((c for c in courses if c["carried"] >= max(LEAST, SHARE * (c["steps"] - 1))), None)


def seen(found: Ran, examination: Examination) -> str | None:
    course = carrying(found)
    return _told(course) if course is not None else None


def _told(course: Facts) -> str:
    return (
        f"the gradient of the step before was still there, and added to, at {course['carried']} of "
        f"{course['steps']} steps of {course['optimizer']}"
    )


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return carrying(found) is not None if found is not None else worth_asking(examination)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    if found is None:
        return _of_a_divergence(examination)
    course, one = carrying(found), gains.changed(examination, CLEARED)
    if course is None or one is None:
        return inconclusive(CAUSE, "steps that hold the gradient of the step before")
    return _settled(examination, course, one, found, gains.gained(one, found))


def _of_a_divergence(examination: Examination) -> Hypothesis:
    """A training that runs away: whether clearing keeps it. The arms are those of its rivals, and one more."""
    ran = trajectories(examination)
    if isinstance(ran, str) or examination.lab is None:
        return inconclusive(CAUSE, str(ran))
    one = _cleared(examination.lab, ran)
    counts = {
        "carried": one.facts.get("cleared", 0),
        "steps": one.facts.get("steps", 0),
        "optimizer": "the optimizer",
        "step": one.facts.get("step"),
    }
    if counts["carried"] < max(LEAST, SHARE * (counts["steps"] - 1)):
        return inconclusive(
            CAUSE, f"older gradients in its steps: {counts['carried']} of {counts['steps']} had one"
        )
    kept = one.finite and end(one) <= gains.FALLEN * ran.start
    return _settled(examination, counts, one, ran.arms[CONTROL.name], kept)


def _cleared(lab: Lab, ran: Trajectories) -> Ran:
    return lab.from_start([CLEARED], max(len(ran.control.rows), LEAST), ran.after)[CLEARED.name]


def _settled(examination: Examination, course: Facts, one: Ran, control: Ran, better: bool) -> Hypothesis:
    site = examination.site(course.get("cleared_at") or course.get("step") or _place(control, "step_site"))
    text = f"{_told(course)}; with gradients cleared before each backward, {gains.ends(one, control)}"
    values = {k: course[k] for k in ("carried", "steps")} | {
        "end": end(control),
        "end_cleared": end(one),
    }
    if not better:
        return inconclusive(CAUSE, f"a gain: {text}")
    return confirmed(CAUSE, site, Evidence("counterfactual", True, text, values, site))


def _place(ran: Ran, column: str) -> Facts | None:
    place: Facts | None = ran.rows[0].get(column) if ran.rows else None
    return place


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    if found is not None:
        course = carrying(found) or {}
        clears = found.facts.get("clears") or []
        given = examination.place(clears[0]["site"]) if len(clears) == 1 else {}
        return {
            "step": examination.place(course.get("step")),
            "backward": examination.place(course.get("backward")),
            "misplaced": given,
        }
    ran = trajectories(examination)
    if isinstance(ran, str) or examination.lab is None:
        return {}
    one = _cleared(examination.lab, ran)
    return {
        "step": examination.place(one.facts.get("step") or _place(ran.control, "step_site")),
        "backward": examination.place(_place(ran.control, "site")),
        "misplaced": _only_clearing(examination),
    }


def _only_clearing(examination: Examination) -> Facts:
    """The one call of the program that clears gradients: it leaves out an optimizer, or comes too seldom."""
    modules = examination.project.modules if examination.project is not None else ()
    calls = [
        (module, call)
        for module in modules
        for call in module.nodes(ast.Call)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "zero_grad"
    ]
    if len(calls) != 1:
        return {}
    module, call = calls[0]
    return {"file": module.path, "line": call.lineno}
