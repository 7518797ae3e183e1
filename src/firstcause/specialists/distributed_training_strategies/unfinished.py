"""What keeps causes of ranks that part from being asked: no second run, one that went well, a rank that failed by itself."""

from __future__ import annotations

from firstcause.record import ranked
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import ranked as ranks
from firstcause.specialists.examination import Examination
from firstcause.specialists.verdicts import inconclusive, refuted


def settled_otherwise(hypothesis: Hypothesis, examination: Examination) -> Hypothesis | None:
    """The hypothesis where the second run says nothing for it, or names a rank that failed by itself; else None."""
    found = ranks.again(examination)
    if not found.standings or (found.code is None and not found.stood_still):
        return inconclusive(hypothesis.cause, found.why or ranks.CONSENT)
    if not found.failed:
        return inconclusive(hypothesis.cause, "a failure when run again: all ranks came to their end then")
    first = ranked.failed_first(found.standings)
    if first is None:
        return None
    standing, error = first
    said = error["message"].splitlines()[0][:200] if error["message"] else ""
    text = f"rank {standing['rank']} failed first, by itself: {error['type']}: {said}"
    values = {"rank": standing["rank"], "exception": error["type"]}
    return refuted(hypothesis.cause, Evidence("observation", False, text, values, rank=int(standing["rank"])))
