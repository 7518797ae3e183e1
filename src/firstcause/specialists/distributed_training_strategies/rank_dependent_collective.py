"""rank-dependent-collective: the ranks' collectives differ from some place on, and a branch that one rank takes leads to it."""

from __future__ import annotations

from firstcause.record import ranked
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import ranked as ranks
from firstcause.specialists.distributed_training_strategies.unfinished import settled_otherwise
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive, refuted

CAUSE = "rank-dependent-collective"


def propose(examination: Examination) -> bool:
    return ranks.failing(examination)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    otherwise = settled_otherwise(hypothesis, examination)
    apart = ranks.parting(examination)
    if otherwise is not None or apart is None:
        return otherwise or inconclusive(CAUSE, "a collective that the ranks do not share")
    text, branch = ranks.told(examination, apart), ranks.branch_of(examination)
    values = _values(examination, apart)
    if branch is None:
        evidence = Evidence("observation", True, text, values)
        return inconclusive(CAUSE, f"{text}; the branch that leads to it was not found", evidence)
    site = examination.site(vars(branch.site))
    values |= {"test": branch.test} | {f"rank {r} went in": n for r, n in branch.times.items()}
    went = ", ".join(f"rank {r} {n} times" for r, n in sorted(branch.times.items()))
    text = f"{text}; the ways part at {site} `{branch.site.text}`, into which went {went}"
    evidence = Evidence("observation", not branch.is_loop, text, values, site, rank=apart.odd)
    return refuted(CAUSE, evidence) if branch.is_loop else confirmed(CAUSE, site, evidence)


def _values(examination: Examination, apart: ranked.Parting) -> Facts:
    calls = {
        f"rank {r}": f"{ranked.shown(c)} {ranks.site_of(examination, c) or ''}".strip()
        for r, c in apart.calls.items()
    }
    return {"alike": apart.alike, **calls}


def facts(examination: Examination) -> Facts:
    """The branch, and the line beneath it from which the collective is made."""
    branch = ranks.branch_of(examination)
    if branch is None:
        return {}
    return {"file": branch.module.path, "line": branch.node.lineno, "reached": branch.reached}
