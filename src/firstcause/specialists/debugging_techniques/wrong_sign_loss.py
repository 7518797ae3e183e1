"""wrong-sign-loss: each step makes worse what the loss is made of, and with that sign turned it becomes better."""

from __future__ import annotations

import itertools
import math
import re
import statistics
from collections.abc import Sequence

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits, margins, shifts
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "wrong-sign-loss"
LEAST_STEPS, ALWAYS = 8, 0.9
NOISE = 3.0
# Words of programs that make something worse on purpose, and of weights that are to become smaller.
ON_PURPOSE = (
    r"adversar|gan\b|_gan|discrimin|unlearn|forget|attack|ascent|revers|confus|perturb|minimax|generator\("
)
COSTS = r"(^|_)(costs?|penalt\w*|regrets?|errors?|losses|delays?|latenc\w*|distances?|energy|tour_len\w*|lengths?)($|_)"
COLUMN = {"error": "error", "likelihood": "likelihood", "action": "reward"}
WHAT = {
    "error": "the error that the loss is made of",
    "likelihood": "the log-probability of the data",
    "action": "the reward",
}


def seen(found: Ran, examination: Examination) -> str | None:
    one = _turned(found, examination)
    if one is not None:
        return _told(one)
    margin = _margin(found, examination)
    return margins.told(margin, found) if margin is not None else None


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and seen(found, examination) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    one = _turned(found, examination) if found is not None else None
    margin = _margin(found, examination) if found is not None and one is None else None
    if found is not None and margin is not None:
        return margins.settle(hypothesis, examination, found, margin)
    if found is None or one is None or examination.lab is None:
        return inconclusive(CAUSE, "a term of the loss that each step makes worse")
    site = examination.site(one["site"])
    lines = [[o["site"]["file"], o["site"]["line"]] for o in _all(found) if o["kind"] == one["kind"]]
    settings = {"watch": ["signs_of_losses"], "reversed": lines}
    arm = Arm("the sign of the term turned", "audit", settings)
    other = examination.lab.from_start([arm], examination.lab.horizon(audits.STEPS))[arm.name]
    column = COLUMN[one["kind"]]
    then, now = _finite(found.column(column)), other.column(column)
    if not other.finite or min(len(then), len(now)) < LEAST_STEPS:
        return inconclusive(CAUSE, f"{WHAT[one['kind']]} of each step: it was not seen")
    start, end, turned = _first(then), _last(then), _last(now)
    text = (
        f"{_told(one)}, at {site}: in {len(then)} steps {WHAT[one['kind']]} goes from {start:.4g} to {end:.4g}, and with the "
        f"sign of that term alone turned to {turned:.4g}"
    )
    values = {"start": start, "end": end, "end_with_sign_turned": turned, "against": one["against"]}
    up = -1.0 if one["kind"] == "error" else 1.0
    # What ran away has no noise of its own: the way back is measured from the start.
    noise = NOISE * ((_error(then) if found.finite else 0.0) ** 2 + _error(now) ** 2) ** 0.5
    if up * (turned - (end if found.finite else start)) <= noise or up * (end - start) > 0:
        return inconclusive(CAUSE, f"{text}: no clear gain")
    return confirmed(CAUSE, site, Evidence("counterfactual", True, text, values, site))


def _all(found: Ran) -> list[Facts]:
    """The terms that each step makes worse, the optimizer's own direction included."""
    of: list[Facts] = found.facts.get("signs") or []
    maximised = any(o["kind"] == "maximize" for o in of)
    side, other = ("with", "against") if maximised else ("against", "with")
    return [
        o | {"maximised": maximised}
        for o in of
        if o[side] >= LEAST_STEPS and o[side] >= ALWAYS * (o[side] + o[other])
    ]


def _turned(found: Ran, examination: Examination) -> Facts | None:
    against = _all(found)
    of = [o for o in found.facts.get("signs") or [] if o["kind"] != "maximize" and o["with"] + o["against"]]
    one = next(iter(against), None)
    if one is None or shifts.says(examination, ON_PURPOSE):
        return None
    if one["kind"] == "action":
        return None if any(re.search(COSTS, n.lower()) for n in one.get("names") or ()) else one
    # One term against others is a game between them, and may be meant.
    return one if len(against) == len(of) else None


def _margin(found: Ran, examination: Examination) -> Facts | None:
    one = margins.stuck(found)
    return one if one is not None and not shifts.says(examination, ON_PURPOSE) else None


def _told(one: Facts) -> str:
    steps = one["against"] + one["with"]
    how = max(one["against"], one["with"])
    if one["kind"] == "action":
        return (
            f"in {how} of {steps} passes the gradient makes actions less probable whose weight is positive, and those more "
            "probable whose weight is negative"
        )
    word = "raises the error" if one["kind"] == "error" else "lowers the log-probability of the data"
    return f"in {how} of {steps} passes the step {word} that the loss is made of"


def _finite(values: Sequence[float]) -> Sequence[float]:
    """The values up to the first that is not finite: a term that is made worse ends in one."""
    return list(itertools.takewhile(math.isfinite, values))


def _third(values: Sequence[float]) -> int:
    return max(3, len(values) // 4)


def _first(values: Sequence[float]) -> float:
    return statistics.fmean(values[: _third(values)])


def _last(values: Sequence[float]) -> float:
    return statistics.fmean(values[-_third(values) :])


def _error(values: Sequence[float]) -> float:
    tail = values[-_third(values) :]
    return float(statistics.stdev(tail) / len(tail) ** 0.5)


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    one = _turned(found, examination) if found is not None else None
    margin = _margin(found, examination) if found is not None and one is None else None
    if margin is not None:
        return margins.facts(examination, margin)
    if found is None or one is None:
        return {}
    lines = sorted(
        o["site"]["line"]
        for o in _all(found)
        if o["kind"] == one["kind"] and o["site"]["file"] == one["site"]["file"]
    )
    return examination.place(one["site"]) | {
        "kind": one["kind"],
        "maximised": one["maximised"],
        "lines": lines,
    }
