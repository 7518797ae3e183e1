"""optimizer-step-missing: backward gives gradients to parameters that no optimizer's step ever moves."""

from __future__ import annotations

import ast
import math
import statistics

from firstcause.lab.counterfactual import Arm, Lab, Ran
from firstcause.schema import Evidence, Hypothesis, Site
from firstcause.source import Module
from firstcause.source.other_steps import step_of_another
from firstcause.source.pairing.texts import changed
from firstcause.source.rewrites import Rewrite, statements_of
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import steadily_lower
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "optimizer-step-missing"
STEPPED = Arm("a step after each backward", "step_after_backward")
# Fewer backward passes may be a look at gradients.
LEAST = 10
# A loss that falls to this share of where it stood has no need of the same batches.
FALLEN = 0.9
MOST_STEPS = 5000


def idle(found: Ran) -> Facts | None:
    """The optimizer that never stepped while its parameters had gradients; None where there is none."""
    courses: list[Facts] = found.facts.get("unstepped") or []
    return next((c for c in courses if c["backwards"] >= LEAST), None)


def seen(found: Ran, examination: Examination) -> str | None:
    course = idle(found)
    return _told(course) if course is not None else None


def _told(course: Facts) -> str:
    return (
        f"{course['optimizer']} took no step while {course['backwards']} backward passes gave its "
        f"{course['parameters']} parameters gradients, and their values never changed"
    )


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and idle(found) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    course = idle(found) if found is not None else None
    if found is None or course is None or examination.lab is None:
        return inconclusive(
            CAUSE, "backward passes without a step of the optimizer that holds the parameters"
        )
    other = step_of_another(examination.project) if examination.project is not None else None
    if other is not None and course.get("losses"):
        return _in_its_place(examination, examination.lab, course, *other)
    steps = MOST_STEPS if examination.lab.horizon(0) else audits.STEPS
    one = examination.lab.from_start([STEPPED], steps)[STEPPED.name]
    before, now = found.facts.get("backward_losses") or [], one.facts.get("losses") or []
    if len(course.get("losses") or before) < len(before):
        # Others than its own stand between them, of a training that goes on without it.
        before, now = course["losses"], one.facts.get("own") or []
    if len(now) < LEAST or one.ended not in ("steps", "program"):
        return inconclusive(
            CAUSE, f"the same training with a step after each backward ({one.why or one.ended})"
        )
    how, site = "with a step after each of them", examination.site(course["backward"])
    return _compared(course, how, before, now, site)


def _in_its_place(
    examination: Examination, lab: Lab, course: Facts, module: Module, stepped: ast.expr, name: str
) -> Hypothesis:
    """The training with the step that another optimizer takes in its place taken by it."""
    statement = module.statement(stepped)
    if not isinstance(statement, ast.stmt):
        return inconclusive(CAUSE, f"a statement that steps another optimizer: {_told(course)}")
    way = Rewrite(module, statement, changed(module, statement, (stepped, name)))
    arm = Arm(f"{name} stepped", "audit", {"watch": ["gradients_cleared"]})
    one = lab.rewritten(arm, lab.horizon(audits.STEPS), statements_of((way,)))
    before = course["losses"]
    # The one whose first loss is that of the idle one: nothing has moved until then.
    now: list[float] = next(
        (c["losses"] for c in one.facts.get("gradients") or [] if _is_same(c, course)), []
    )
    if len(now) < LEAST or one.ended not in ("steps", "program"):
        return inconclusive(CAUSE, f"the same training with a step of {name} ({one.why or one.ended})")
    site = module.site(stepped)
    how = f"with a step of {name} at {site} instead of one of {module.segment(stepped)}"
    return _compared(course, how, before, now, site)


def _is_same(one: Facts, course: Facts) -> bool:
    same = all(one[k] == course[k] for k in ("optimizer", "parameters"))
    return (
        same and bool(one.get("losses")) and math.isclose(one["losses"][0], course["losses"][0], rel_tol=1e-3)
    )


def _compared(
    course: Facts, how: str, before: list[float], now: list[float], site: Site | None
) -> Hypothesis:
    before = before[: len(now)]
    end, end_now = _end(before), _end(now)
    text = f"{_told(course)}; {how}, the loss comes to {end_now:.4g} instead of {end:.4g}"
    values = {k: course[k] for k in ("backwards", "parameters")} | {"end": end, "end_stepped": end_now}
    if not (end_now < end - (1 - FALLEN) * abs(end) or steadily_lower(now, before)):
        return inconclusive(CAUSE, f"a gain: {text}")
    return confirmed(CAUSE, site, Evidence("counterfactual", True, text, values, site))


def _end(losses: list[float]) -> float:
    return statistics.median(losses[-max(3, len(losses) // 5) :])


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    course = (idle(found) if found is not None else None) or {}
    clears = (found.facts.get("clears") if found is not None else None) or []
    return {
        "backward": examination.place(course.get("backward")),
        "clears": [examination.place(c["site"]) for c in clears],
    }
