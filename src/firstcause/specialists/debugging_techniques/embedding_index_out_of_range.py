"""embedding-index-out-of-range: an id lies outside of the table that it is looked up in."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.refusals import settle_index

CAUSE = "embedding-index-out-of-range"
OPS = frozenset({"embedding", "_embedding_bag", "_embedding_bag_forward_only"})


def propose(examination: Examination) -> bool:
    refused = examination.refused
    return refused is not None and refused["op"] in OPS


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    return settle_index(hypothesis, examination, "ids", "table's rows")


def facts(examination: Examination) -> Facts:
    refused = examination.refused or {}
    index, running = refused.get("index") or {}, refused.get("modules") or []
    given = examination.place(refused.get("site")) | examination.owner(
        running[-1]["path"] if running else None
    )
    if running and "embedding_dim" in running[-1]["settings"]:
        given |= {"embedding_dim": running[-1]["settings"]["embedding_dim"]}
    return given | {
        "module_path": running[-1]["path"] if running else None,
        "num_embeddings": index.get("rows"),
        "ids_min": index.get("min"),
        "ids_max": index.get("max"),
        "offenders": index.get("outside"),
        "ids_count": index.get("total"),
    }
