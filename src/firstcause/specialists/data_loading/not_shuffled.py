"""not-shuffled: batches of like samples in the same order each epoch, and the model forgets what it saw first."""

from __future__ import annotations

import statistics
from dataclasses import replace

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits, gains
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "not-shuffled"
SHUFFLED = Arm("samples in random order", "audit", {"watch": ["batch_order"], "shuffled": 1})
# Shuffled batches give 1, give or take a half; samples sorted by their target give as much as a batch has rows.
RUNS = 4.0
# Passes over the data in one order: the first may be the only one of a stream.
PASSES = 2
BETTER = 0.8
# The share of batches of one class alone, in a program whose own code compares the classes of a batch with each other.
ALONE = 0.5
# The mixed batches on which the two orders are compared: few, so that what is learned on them counts little.
MIXED = 5


def order(found: Ran) -> Facts | None:
    """The order of the samples, where it is fixed and batches hold like targets."""
    one: Facts = found.facts.get("order") or {}
    fixed = one.get("by") and one.get("passes", 0) >= PASSES
    known = one.get("loss") is not None or _alone(one)
    return one if fixed and known and (one.get("runs") or 0.0) >= RUNS else None


def _alone(one: Facts) -> bool:
    """Whether batches hold samples of one of several classes: what is to tell classes apart has nothing to compare."""
    return (one.get("alone") or 0.0) >= ALONE and one["classes"] > 1


def seen(found: Ran, examination: Examination) -> str | None:
    one = order(found)
    if one is None:
        return None
    if _alone(one):
        return (
            f"samples are read in the same order in each of {one['passes']} epochs, and {one['alone']:.0%} of the "
            f"{one['steps']} batches whose classes the program compares hold one of {one['classes']} classes alone"
        )
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
    if _alone(one):
        return _compared(examination, found, one, shuffled)
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


def _compared(examination: Examination, found: Ran, one: Facts, shuffled: Ran | None) -> Hypothesis:
    """A loss of the program's own code over the classes of a batch: what it comes to in mixed batches is compared.

    In batches of one class it may fall to nothing; so the training in order reads mixed ones from its middle on.
    """
    text, since = seen(found, examination), one["passes"] // 2 + 1
    later = replace(
        SHUFFLED,
        name=f"{SHUFFLED.name} from pass {since} on",
        settings=SHUFFLED.settings | {"shuffled": since},
    )
    turned = gains.changed(examination, later)
    if shuffled is None or turned is None or not (shuffled.finite and turned.finite):
        return inconclusive(CAUSE, f"{text}; the same training with mixed batches")
    begun = ((turned.facts.get("order") or {}).get("begun") or [])[since - 1 :]
    alone = (shuffled.facts.get("order") or {}).get("alone")
    then, now = (ran.losses[begun[0] :][:MIXED] if begun else [] for ran in (turned, shuffled))
    if len(then) < MIXED or len(now) < MIXED or alone is None or alone > one["alone"] / 2:
        return inconclusive(CAUSE, f"{text}; the same training with mixed batches")
    before, after = statistics.fmean(then), statistics.fmean(now)
    if after > before - (1 - BETTER) * abs(before):
        return inconclusive(CAUSE, f"{text}; a clear gain in random order")
    site = examination.site(one["site"])
    said = (
        f"{text}; after {begun[0]} steps of it the loss on mixed batches is {before:.4g}, and {after:.4g} after as many steps "
        "in random order alone"
    )
    values = {k: one[k] for k in ("alone", "classes", "passes")} | {"loss": before, "shuffled": after}
    return confirmed(CAUSE, site, Evidence("counterfactual", True, said, values, site))


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    one = order(found) if found is not None else None
    return {} if one is None else examination.place(one["site"]) | {"by": one["by"]}
