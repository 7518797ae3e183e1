"""squeeze-drops-batch-dimension: a squeeze without an axis also takes the batch axis of a batch of one."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.refused_calls import behind, settle_call, squeezed, trials
from firstcause.specialists.verdicts import inconclusive, nothing_refused

CAUSE = "squeeze-drops-batch-dimension"


def propose(examination: Examination) -> bool:
    return bool(trials(examination, "squeeze"))


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    tried = trials(examination, "squeeze")
    if not tried:
        return nothing_refused(hypothesis, examination)
    kept = squeezed(examination)
    if not kept:
        if any(t["passes"] for t in tried):
            missing = (
                "a squeeze drops an axis that the refused call needs, but not that of a batch of one sample"
            )
            return inconclusive(hypothesis.cause, missing)
        said = tried[0]["instead"][0] if tried[0]["instead"] else "another error"
        text = f"with the squeezed axis of {tried[0]['shape']} kept it is refused too ({said})"
        return settle_call(hypothesis, examination, False, text, _figures(tried[0]))
    if len({t["call"] for t in kept}) > 1:
        return inconclusive(
            hypothesis.cause, f"{len({t['call'] for t in kept})} squeezes drop an axis of the batch of one"
        )
    trial = kept[0]
    made = behind(examination, trial["call"]) or {}
    site = examination.site(made.get("site"))
    axes = ", ".join(map(str, trial["dropped"]))
    text = (
        f"squeeze at {site} makes {made.get('shape')} of {trial['shape']} and so drops axes {axes}; "
        f"with axis {trial['axis']} kept, that of the batch of one sample, the same calls pass"
    )
    return settle_call(hypothesis, examination, True, text, _figures(trial), made.get("site"))


def _figures(trial: Facts) -> Facts:
    return {k: trial[k] for k in ("shape", "dropped", "axis", "batch_axis", "passes")}


def facts(examination: Examination) -> Facts:
    trial = squeezed(examination)[0]
    made = behind(examination, trial["call"]) or {}
    given = examination.place(made.get("site")) | {
        "shape": tuple(trial["shape"]),
        "dropped": tuple(trial["dropped"]),
    }
    return given | {"batch_axis": trial["batch_axis"], "named": trial["named"]}
