"""ddp-unused-parameters: DistributedDataParallel refuses to go on, and parameters of the model got no gradient."""

from __future__ import annotations

from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import ranked as ranks
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "ddp-unused-parameters"
MOST_NAMES = 6


def propose(examination: Examination) -> bool:
    return ranks.failing(examination)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = _refused(examination)
    if not found:
        why = ranks.again(examination).why
        return inconclusive(CAUSE, why or "a wrapped model that refuses to go on for want of gradients")
    rank, model = found[0]
    refused = model["refused"]
    site, at = examination.site(model["made"]), examination.site(refused["site"])
    by_rank = {r: m["refused"]["unused"] for r, m in found}
    given = f", after a forward that was given {', '.join(_before(model))}" if _before(model) else ""
    text = (
        f"on {_ranks(list(by_rank))} forward {refused['calls'] + 1} at {at} was refused: {_named(refused['unused'])} of "
        f"{len(model['names'])} parameters of {model['class']} got no gradient in the one before{given}"
    )
    values: Facts = {f"without gradient on rank {r}": names for r, names in by_rank.items()}
    values |= {"parameters": len(model["names"]), "forward": refused["calls"] + 1}
    return confirmed(CAUSE, site, Evidence("observation", True, text, values, site, rank=rank))


def _refused(examination: Examination) -> list[tuple[int, Facts]]:
    found: list[tuple[int, Facts]] = []
    for rank, models in ranks.facts_of(ranks.of_run(examination), "wrapped"):
        refused = [
            m for m in list(models) if m["refused"] and m["refused"]["unused"] and not m["finds_unused"]
        ]
        found += [(rank, m) for m in refused]
    return found


def _before(model: Facts) -> list[str]:
    return model["forwards"][-1]["given"] if model["forwards"] else []


def _ranks(ranks_: list[int]) -> str:
    return f"rank {ranks_[0]}" if len(ranks_) == 1 else f"ranks {', '.join(map(str, ranks_))}"


def _named(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def facts(examination: Examination) -> Facts:
    """The call that wraps the model."""
    found = _refused(examination)
    return examination.place(found[0][1]["made"]) if found else {}
