"""sampler-set-epoch-missing: a sampler that shuffles by its epoch gives each rank the same order in every epoch."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import ranked as ranks
from firstcause.specialists.distributed_training_strategies.passes import by_loader
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.silent import Silent
from firstcause.specialists.verdicts import confirmed

CAUSE = "sampler-set-epoch-missing"
# Two samples fall into the same order by chance.
LEAST_SAMPLES = 8


def _repeated(found: Ran) -> Facts:
    """The first loader whose order is the same in all of its passes, on all ranks."""
    seen = [by_loader(own) for _, own in ranks.facts_of(found, "batches")]
    for loader in seen[0] if len(seen) > 1 else ():
        passes = [own.get(loader, []) for own in seen]
        if all(_same_order(p) for p in passes):
            return passes[0][0] | {"passes": len(passes[0]), "ranks": len(passes)}
    return {}


def _same_order(passes: list[Facts]) -> bool:
    return (
        len(passes) > 1
        and passes[0]["reseeded"]
        and passes[0]["shuffles"]
        and passes[0]["distinct"] >= LEAST_SAMPLES
        and len({(p["in_order"], p["indices"]) for p in passes}) == 1
    )


def _told(seen: Facts) -> str:
    return (
        f"{seen['sampler']} shuffles, and gave each of {seen['ranks']} ranks the same order of {seen['indices']} samples in "
        f"all {seen['passes']} epochs; on rank 0 each begins with {', '.join(map(str, seen['first']))}"
    )


def _settled(cause: str, examination: Examination, seen: Facts) -> Hypothesis:
    site = examination.site(seen["site"])
    values = {k: seen[k] for k in ("passes", "ranks", "indices", "first", "in_order")}
    return confirmed(cause, site, Evidence("observation", True, _told(seen), values, site))


def _known(examination: Examination, seen: Facts) -> Facts:
    return examination.place(seen["site"])


_FORM = Silent(
    CAUSE, _repeated, _told, _settled, _known, "all ranks run again, with a shuffled order that repeats"
)
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts
