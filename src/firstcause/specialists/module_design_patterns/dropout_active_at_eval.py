"""dropout-active-at-eval: values are dropped at random while the model is evaluated."""

from __future__ import annotations

import statistics

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "dropout-active-at-eval"
# Two passes of one batch, in parts of the spread of the output: with dropout, and without it.
APART, SAME = 1e-2, 1e-5


def dropping(found: Ran) -> Facts | None:
    """The evaluation whose passes differ by dropout alone; None where there is none."""
    for one in found.facts.get("evaluations") or []:
        with_it, without = (statistics.median(f[i] for f in one["figures"]) for i in (0, 1))
        if with_it >= APART and without <= SAME:
            return dict(one) | {"apart": with_it, "apart_without": without}
    return None


def seen(found: Ran, examination: Examination) -> str | None:
    one = dropping(found)
    return _told(one) if one is not None else None


def _told(one: Facts) -> str:
    mode = (
        "in training mode"
        if one["kind"] == "module"
        else "although the module around it is in evaluation mode"
    )
    return (
        f"{one['name']} drops values in {one['passes']} passes without gradients of {one['function']}(), {mode}: the same "
        f"batch twice gives outputs {one['apart']:.2g} of their spread apart, without it {one['apart_without']:.2g}"
    )


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and dropping(found) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    one = dropping(found) if found is not None else None
    if one is None:
        return inconclusive(CAUSE, "an evaluation whose passes of one batch differ by dropout")
    site = examination.site(one["site"])
    values = {k: one[k] for k in ("passes", "apart", "apart_without", "name")}
    return confirmed(CAUSE, site, Evidence("experiment", True, _told(one), values, site))


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    one = dropping(found) if found is not None else None
    if found is None or one is None:
        return {}
    site = one["site"] | {"line": one["first_line"]} if one["kind"] == "module" else one["site"]
    return {
        "kind": one["kind"],
        "name": one["name"],
        "place": examination.place(one["site"]),
        "alike": [examination.place(s) for s in one["alike"]],
        "function": examination.place(site),
        "backward": examination.place(found.rows[0].get("site")),
    }
