"""not-shuffled: batches of like samples in the same order each epoch, and the model forgets what it saw first."""

from __future__ import annotations

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits, gains
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "not-shuffled"
SHUFFLED = Arm("samples in random order", "audit", {"watch": ["batch_order"], "shuffled": True})
# Shuffled batches give 1, give or take a half; samples sorted by their target give as much as a batch has rows.
RUNS = 4.0
# Passes over the data in one order: the first may be the only one of a stream.
PASSES = 2
BETTER = 0.8


def order(found: Ran) -> Facts | None:
    """The order of the samples, where it is fixed and batches hold like targets."""
    one: Facts = found.facts.get("order") or {}
    fixed = one.get("by") and one.get("passes", 0) >= PASSES and one.get("loss") is not None
    return one if fixed and (one.get("runs") or 0.0) >= RUNS else None


def seen(found: Ran, examination: Examination) -> str | None:
    one = order(found)
    if one is None:
        return None
    return (
        f"samples are read in the same order in each of {one['passes']} epochs, and the means of the targets of a batch vary "
        f"{one['runs']:.3g} times as much as those of shuffled batches"
    )


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and order(found) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    one = order(found) if found is not None else None
    if found is None or one is None:
        return inconclusive(CAUSE, "samples in a fixed order in which neighbours are alike")
    text = seen(found, examination)
    shuffled = gains.changed(examination, SHUFFLED)
    other = (shuffled.facts.get("order") or {}) if shuffled is not None and shuffled.finite else {}
    then, now = one["loss"], other.get("loss")
    mixed = (other.get("runs") or 0.0) < one["runs"] / 2
    if shuffled is None or now is None or not mixed or now > then - (1 - BETTER) * abs(then):
        return inconclusive(CAUSE, f"{text}; a clear gain in random order")
    site = examination.site(one["site"])
    said = (
        f"{text}; in random order alone, the loss on batches of all parts of the data is {now:.4g} after "
        f"{len(shuffled.rows)} steps instead of {then:.4g}"
    )
    values = {
        "runs": one["runs"],
        "runs_shuffled": other["runs"],
        "passes": one["passes"],
        "loss": then,
        "shuffled": now,
    }
    return confirmed(CAUSE, site, Evidence("counterfactual", True, said, values, site))


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    one = order(found) if found is not None else None
    return {} if one is None else examination.place(one["site"]) | {"by": one["by"]}
