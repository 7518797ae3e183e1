"""broadcast-in-loss: prediction and target hold as many values in different shapes, where the loss compares them."""

from __future__ import annotations

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import aligned, audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import steadily_lower
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "broadcast-in-loss"
ALIGNED = Arm("prediction and target in one shape", "audit", {"watch": ["pairs_compared"], "align": True})


def seen(found: Ran, examination: Examination) -> str | None:
    where = audits.pair(found)
    if where is None:
        return None
    one, other = where["shapes"]
    return f"{where['function']} compares {one} with {other} and gives {where['result'] or 'the mean over all pairs'}"


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    if found is not None:
        return audits.pair(found) is not None
    return aligned.tried(examination, loss=True)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    if found is not None:
        return _of_the_training(examination, found)
    return aligned.settle(hypothesis, examination, loss=True)


def _of_the_training(examination: Examination, found: Ran) -> Hypothesis:
    """Whether predictions come nearer to their own targets once each is compared with its own alone."""
    pair = audits.pair(found)
    if pair is None or examination.lab is None:
        return inconclusive(CAUSE, "two operands of as many values in shapes of different length")
    site = examination.site(pair["site"])
    one = examination.lab.from_start([ALIGNED], examination.lab.horizon(audits.STEPS))[ALIGNED.name]
    then, now = audits.end_of(found, "distance"), audits.end_of(one, "distance")
    text = (
        f"{pair['function']} at {site} compares {pair['shapes'][0]} with {pair['shapes'][1]}, every value with every other; "
        f"in one shape, the mean squared distance of each prediction to its own target comes to {now:.4g} instead of "
        f"{then:.4g} in {len(one.rows)} steps"
    )
    values = {k: pair[k] for k in ("shapes", "function", "result")} | {
        "distance": then,
        "distance_aligned": now,
    }
    # Targets that are noise for the most part leave little to gain, but that steadily.
    steady = steadily_lower(one.column("distance"), found.column("distance"), share=2)
    if not one.finite or not (now <= audits.BETTER * then or steady):
        return inconclusive(CAUSE, f"{text}: no clear gain")
    return confirmed(CAUSE, site, Evidence("counterfactual", True, text, values, site))


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    pair = audits.pair(found) if found is not None else None
    if pair is None:
        return aligned.facts(examination, loss=True)
    given = {k: pair[k] for k in ("function", "operand")} | {"only": True}
    return examination.place(pair["site"]) | given | {k: tuple(pair[k]) for k in ("shape", "other")}
