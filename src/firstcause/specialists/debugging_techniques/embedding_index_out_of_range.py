"""embedding-index-out-of-range: an id lies outside of the table that it is looked up in."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.examination import Examination
from firstcause.specialists.refusals import settle_index

CAUSE = "embedding-index-out-of-range"
OPS = frozenset({"embedding", "_embedding_bag", "_embedding_bag_forward_only"})


def propose(examination: Examination) -> bool:
    refused = examination.refused
    return refused is not None and refused["op"] in OPS


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    return settle_index(hypothesis, examination, "ids", "table's rows")
