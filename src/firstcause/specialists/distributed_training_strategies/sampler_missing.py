"""sampler-missing: every rank trains on all samples of the same data set, where each was to have its share."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import ranked as ranks
from firstcause.specialists.distributed_training_strategies.passes import by_loader
from firstcause.specialists.distributed_training_strategies.replicas import gradients_shared
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.silent import Silent
from firstcause.specialists.verdicts import confirmed

CAUSE = "sampler-missing"
# Fewer samples than this are a toy, or a list of tasks.
LEAST_SAMPLES = 8


def _all_on_each(found: Ran) -> Facts:
    """The first loader that gave every rank the same samples, of ranks that share their gradients."""
    own = ranks.facts_of(found, "batches")
    if len(own) < 2 or not gradients_shared(found):
        return {}
    seen = {rank: by_loader(batches, cut_off=True) for rank, batches in own}
    first = next(iter(seen.values()))
    for loader in first:
        passes = [p[0] for s in seen.values() if (p := s.get(loader))]
        if (
            len(passes) == len(own)
            and len({_samples(p) for p in passes}) == 1
            and len({(p["ended"], p["given"]) for p in passes}) == 1
            and passes[0]["distinct"] >= LEAST_SAMPLES
        ):
            in_order = len({p["in_order"] for p in passes}) == 1
            return passes[0] | {"ranks": len(passes), "same_order": in_order}
    return {}


def _samples(one: Facts) -> tuple[int, ...]:
    return one["as_set"], one["distinct"], one["fingerprint"], one["samples"] or 0


def _told(seen: Facts) -> str:
    order = "in the same order" if seen["same_order"] else "each in an order of its own"
    return (
        f"each of {seen['ranks']} ranks draws the same {seen['distinct']} samples in an epoch, {order}, by {seen['sampler']}: "
        f"{seen['ranks']} times {seen['distinct']} samples for a data set of {seen['samples']}"
    )


def _settled(cause: str, examination: Examination, seen: Facts) -> Hypothesis:
    site = examination.site(seen["made"] or seen["site"])
    values = {
        k: seen[k] for k in ("ranks", "distinct", "samples", "same_order", "as_set", "sampler", "first")
    }
    return confirmed(cause, site, Evidence("observation", True, _told(seen), values, site))


def _known(examination: Examination, seen: Facts) -> Facts:
    return examination.place(seen["made"] or seen["site"]) | {"loop": examination.place(seen["site"])}


_FORM = Silent(
    CAUSE, _all_on_each, _told, _settled, _known, "all ranks run again, with the samples that each draws"
)
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts
