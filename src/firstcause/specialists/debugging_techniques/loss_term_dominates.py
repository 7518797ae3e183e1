"""loss-term-dominates: one term's gradient on the shared weights is a hundred times another's, which learns once it is not."""

from __future__ import annotations

import statistics

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import mean
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "loss-term-dominates"
DOMINATES = 30.0
# How far the small term has to come down once the large one counts less, beside what it comes to as it is; how far the
# large one may stay behind, in parts of its own fall; and how little the small one falls as it is.
BETTER, KEPT, STILL = 0.6, 0.9, 0.5
# A large term that the program itself multiplies by this much is no goal of its own but a price: it may stay behind, where
# the small one comes down so far.
RAISED, MUCH_BETTER = 10.0, 0.3
# The spread of targets that are in a unit of their own.
FAR = 10.0


def seen(found: Ran, examination: Examination) -> str | None:
    pair = _pair(found)
    return _told(found, *pair) if pair is not None else None


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and _pair(found) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    pair = _pair(found) if found is not None else None
    if found is None or pair is None or examination.lab is None:
        return inconclusive(CAUSE, "terms of the loss whose gradients on the same weights lie far apart")
    for factor in _factors(found, *pair):
        tried = _tried(examination, found, *pair, factor)
        if tried.status == "confirmed":
            return tried
    standardised = _standardised(examination, found, *pair)
    return tried if standardised is None else standardised


def _standardised(examination: Examination, found: Ran, large: int, small: int) -> Hypothesis | None:
    """The large term of targets in a unit of its own; None where it is no error of targets far from 1.

    A weight alone leaves a network to reach numbers in the thousands, by features that are as large for the other term.
    """
    error: Facts | None = found.facts["terms"][large].get("error")
    if examination.lab is None or not error or error["spread"] < FAR:
        return None
    settings = {"watch": ["terms_of_loss"], "standardised": [large, error]}
    arm = Arm("the targets of the largest term at mean 0 and spread 1", "audit", settings)
    other = examination.lab.from_start([arm], examination.lab.horizon(audits.STEPS))[arm.name]
    site, one, two = examination.site(error["site"]), f"term {large}", f"term {small}"
    small_end, small_now = (audits.end_of(r, two) for r in (found, other))
    large_end, large_now = (audits.end_of(r, one) for r in (found, other))
    starts = {c: mean(found.column(c)[:3]) for c in (one, two)}
    text = (
        f"{_told(found, large, small)}; the targets of the first, at {site}, lie around {error['mean']:.4g} with a spread of "
        f"{error['spread']:.4g}; brought to 0 and 1, the second comes from {starts[two]:.4g} to {small_now:.4g} instead of "
        f"{small_end:.4g} in {len(other.rows)} steps, and the first in its old unit to {large_now:.4g} instead of "
        f"{large_end:.4g}"
    )
    kept = starts[one] - large_now >= KEPT * (starts[one] - large_end)
    if not other.finite or not small_now <= BETTER * min(starts[two], small_end) or not kept:
        return inconclusive(CAUSE, f"{text}: not both are better off")
    examination.memory[f"{CAUSE} targets"] = error
    values = {
        "ratio": _ratio(found, large, small),
        "spread": error["spread"],
        "small": small_end,
        "small_scaled": small_now,
        "large": large_end,
        "large_scaled": large_now,
    }
    return confirmed(CAUSE, site, Evidence("counterfactual", True, text, values, site))


def _factors(found: Ran, large: int, small: int) -> list[float]:
    """By how much the large term is to be divided: its gradient's excess, and its own weight besides where it has one."""
    ratio, weight = _ratio(found, large, small), float(found.facts["terms"][large]["weight"])
    return [ratio, ratio * weight] if weight >= RAISED else [ratio]


def _tried(examination: Examination, found: Ran, large: int, small: int, ratio: float) -> Hypothesis:
    if examination.lab is None:
        return inconclusive(CAUSE, "the training with the large term divided")
    pair = (large, small)
    site = examination.site(found.facts["terms"][large])
    settings = {"watch": ["terms_of_loss"], "scaled": {str(large): 1 / ratio}}
    arm = Arm(f"the largest term divided by {ratio:.3g}", "audit", settings)
    other = examination.lab.from_start([arm], examination.lab.horizon(audits.STEPS))[arm.name]
    ends = [
        (audits.end_of(r, f"term {i}"), mean(r.column(f"term {i}")[:3])) for r in (found, other) for i in pair
    ]
    (large_end, large_start), (small_end, small_start), (large_now, _), (small_now, _) = ends
    # One that rose as it was, by noise in its features, is not learned by less of a rise.
    beside = min(small_start, small_end)
    text = (
        f"{_told(found, large, small)}; with the first term divided by {ratio:.3g}, at {site}, the second comes from "
        f"{small_start:.4g} to {small_now:.4g} instead of {small_end:.4g} in {len(other.rows)} steps, and the first by its own "
        f"measure to {large_now:.4g} instead of {large_end:.4g}"
    )
    values = {
        "ratio": ratio,
        "small": small_end,
        "small_scaled": small_now,
        "large": large_end,
        "large_scaled": large_now,
    }
    kept = large_start - large_now >= KEPT * (large_start - large_end)
    raised = found.facts["terms"][large]["weight"] >= RAISED and small_now <= MUCH_BETTER * beside
    if not other.finite or not ((small_now <= BETTER * beside and kept) or raised):
        return inconclusive(CAUSE, f"{text}: not both are better off")
    examination.memory[f"{CAUSE} ratio"] = ratio
    return confirmed(CAUSE, site, Evidence("counterfactual", True, text, values, site))


def _norms(found: Ran) -> list[float]:
    """The median gradient norm of each term, over the steps that were looked at."""
    looked: list[list[float]] = found.facts.get("term_norms") or []
    return [statistics.median(c) for c in zip(*looked, strict=True)] if looked else []


def _ratio(found: Ran, large: int, small: int) -> float:
    norms = _norms(found)
    return norms[large] / norms[small]


def _pair(found: Ran) -> tuple[int, int] | None:
    """The terms with the largest and the smallest gradient where the one hides the other, and the other hardly falls."""
    norms = _norms(found)
    if len(norms) < 2 or found.facts.get("several_losses"):
        return None
    large, small = norms.index(max(norms)), norms.index(min(norms))
    column = found.column(f"term {small}")
    if norms[small] <= 0 or norms[large] < DOMINATES * norms[small] or len(column) < 10:
        return None
    # A regulariser is small because the program says so.
    if found.facts["terms"][small]["weight"] < 1:
        return None
    start, end = mean(column[:3]), audits.end_of(found, f"term {small}")
    return (large, small) if start > 0 and start - end <= STILL * start else None


def _told(found: Ran, large: int, small: int) -> str:
    norms, terms = _norms(found), found.facts["terms"]
    places = {
        i: f"operand {terms[i]['operand'] + 1} of the sum on line {terms[i]['line']}" for i in (large, small)
    }
    return (
        f"on the weights that they share, the gradient of one term of the loss ({places[large]}) is {norms[large]:.3g}, that of "
        f"another ({places[small]}) {norms[small]:.3g}, {norms[large] / norms[small]:.3g} times smaller"
    )


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    pair = _pair(found) if found is not None else None
    if found is None or pair is None:
        return {}
    terms = found.facts["terms"]
    targets: Facts | None = examination.memory.get(f"{CAUSE} targets")
    if targets is not None:
        return examination.place(targets["site"]) | {
            "target": targets["operand"],
            "mean": targets["mean"],
            "spread": targets["spread"],
        }
    return examination.place(terms[pair[0]]) | {
        "operand": terms[pair[0]]["operand"],
        "ratio": examination.memory.get(f"{CAUSE} ratio", _ratio(found, *pair)),
    }
