"""scaler-update-missing: GradScaler.update is not called after each GradScaler.step."""

from __future__ import annotations

from firstcause.lab.counterfactual import CONTROL, Arm
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive, refuted

CAUSE = "scaler-update-missing"
SAID = (
    "since the last update()",
    "unscale_() has already been called",
    "unscale_() is being called after step()",
)
UPDATED = Arm("scaler.update() after each scaler.step()", "update_scaler")
MOST_STEPS = 300


def propose(examination: Examination) -> bool:
    return examination.symptom.kind == "exception" and any(s in examination.symptom.message for s in SAID)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    if examination.lab is None:
        missing = "the training again with an update after each step of the scaler: diagnose with --yes"
        return inconclusive(CAUSE, missing)
    steps = min(MOST_STEPS, (examination.symptom.step or 0) + 5)
    arms = examination.lab.from_start([CONTROL, UPDATED], steps)
    control, updated = arms[CONTROL.name], arms[UPDATED.name]
    if control.ended == "lost" or updated.ended == "lost":
        return inconclusive(CAUSE, control.why or updated.why)
    same = (control.exception or {}).get("message", "") in examination.symptom.message
    if control.ended != "exception" or not same:
        missing = f"the exception itself: the training, run again unchanged, ended with {control.ended}"
        return inconclusive(CAUSE, missing)
    done, failed = len(updated.rows), len(control.rows)
    values = {"steps_with": done, "steps_without": failed, "updates": updated.facts.get("updates")}
    if updated.ended == "exception" or done <= failed:
        text = (
            f"with an update after each step of the scaler the training ends all the same, after {done} steps"
        )
        return refuted(CAUSE, Evidence("counterfactual", False, text, values))
    text = (
        f"as it ran, the scaler refuses after {failed} step{'s' if failed != 1 else ''}; with scaler.update() after each "
        f"scaler.step() and nothing else changed the training goes on ({done} steps were tried)"
    )
    site = examination.symptom.site
    return confirmed(CAUSE, site, Evidence("counterfactual", True, text, values, site))


def facts(examination: Examination) -> Facts:
    site = examination.symptom.site
    return {} if site is None else examination.place({"file": site.file, "line": site.line})
