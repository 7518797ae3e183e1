"""embedding-index-out-of-range: an id lies outside of the table that it is looked up in."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.examination import Examination
from firstcause.specialists.refusals import settle_refusal

CAUSE = "embedding-index-out-of-range"
OPS = frozenset({"embedding", "_embedding_bag", "_embedding_bag_forward_only"})


def propose(examination: Examination) -> bool:
    refused = examination.refused
    return refused is not None and refused["op"] in OPS


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    index = (examination.refused or {}).get("index")
    if not index or not index["outside"]:
        return settle_refusal(
            hypothesis, examination, False, "every id lies inside of the table", index or {}
        )
    table = f"a table of {index['rows']} rows (0 to {index['rows'] - 1})"
    text = f"{index['outside']} of {index['total']} ids lie outside of {table}: {index['values']} at {index['at']}"
    return settle_refusal(hypothesis, examination, True, text, index)
