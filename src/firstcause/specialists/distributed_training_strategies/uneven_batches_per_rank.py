"""uneven-batches-per-rank: one rank goes round its loop once more than another, and waits there for it."""

from __future__ import annotations

from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import ranked as ranks
from firstcause.specialists.distributed_training_strategies.unfinished import settled_otherwise
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive, refuted

CAUSE = "uneven-batches-per-rank"


def propose(examination: Examination) -> bool:
    return ranks.failing(examination)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    otherwise = settled_otherwise(hypothesis, examination)
    apart, branch = ranks.parting(examination), ranks.branch_of(examination)
    if otherwise is not None or apart is None or branch is None:
        return otherwise or inconclusive(CAUSE, "a loop that the ranks go round unequally often")
    site = examination.site(vars(branch.site))
    rounds = ", ".join(f"rank {r} {n} times" for r, n in sorted(branch.times.items()))
    if not branch.is_loop:
        text = f"no loop, but the branch at {site} `{branch.site.text}` is what the ranks went into differently: {rounds}"
        return refuted(CAUSE, Evidence("observation", False, text, _rounds(branch.times), site))
    text = f"the loop at {site} `{branch.site.text}` went round {rounds}; {ranks.told(examination, apart)}"
    values = _rounds(branch.times) | _lengths(examination)
    return confirmed(CAUSE, site, Evidence("observation", True, text, values, site, rank=apart.odd))


def _rounds(times: dict[int, int]) -> Facts:
    return {f"rank {r}": n for r, n in times.items()}


def _lengths(examination: Examination) -> Facts:
    """How many batches the rank's loaders gave in their first pass, where the loop goes through one."""
    found = ranks.facts_of(ranks.of_run(examination), "batches")
    return {
        f"batches of rank {r}": b["passes"][0]["given"]
        for r, b in found
        if b["passes"] and b["passes"][0]["ended"]
    }


def facts(examination: Examination) -> Facts:
    """The loop, and whether it trains a model that DistributedDataParallel holds."""
    branch = ranks.branch_of(examination)
    if branch is None:
        return {}
    models = [m for _, own in ranks.facts_of(ranks.of_run(examination), "wrapped") for m in own]
    return {"file": branch.module.path, "line": branch.node.lineno, "wrapped": bool(models)}
