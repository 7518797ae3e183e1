"""embedding-index-out-of-range: an id lies outside of the table that it is looked up in."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.refusals import settle_index

CAUSE = "embedding-index-out-of-range"
# Views between the count and its look-up: unsqueeze, expand, slices.
SHAPED = 4
OPS = frozenset({"embedding", "_embedding_bag", "_embedding_bag_forward_only"})


def propose(examination: Examination) -> bool:
    refused = examination.refused
    return refused is not None and refused["op"] in OPS


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    return settle_index(hypothesis, examination, "ids", "table's rows")


def _longer_than_trained(examination: Examination) -> Facts | None:
    """The line that gives a trained model more positions than its table has rows; None where the ids are no positions.

    The table was large enough for all that it was trained on: what is too long is what it is given now.
    """
    refused, call = examination.refused or {}, examination.failure.get("call")
    ids = [o for o in refused.get("operands") or [] if isinstance(o, dict) and o.get("dtype") == "int64"]
    made = examination.op(ids[0].get("made_by")) if ids else None
    for _ in range(SHAPED):
        if made is None or made["op"] == "arange" or not made["inputs"]:
            break
        made = examination.op(made["inputs"][0].get("made_by"))
    if made is None or made["op"] != "arange" or not call or not examination.rows:
        return None
    return examination.place({"file": str(call.get("file")), "line": call.get("line")})


def facts(examination: Examination) -> Facts:
    refused = examination.refused or {}
    index, running = refused.get("index") or {}, refused.get("modules") or []
    given = examination.place(refused.get("site")) | examination.owner(
        running[-1]["path"] if running else None
    )
    if running and "embedding_dim" in running[-1]["settings"]:
        given |= {"embedding_dim": running[-1]["settings"]["embedding_dim"]}
    caller = _longer_than_trained(examination)
    given |= {"longer_at": caller} if caller is not None else {}
    return given | {
        "module_path": running[-1]["path"] if running else None,
        "num_embeddings": index.get("rows"),
        "ids_min": index.get("min"),
        "ids_max": index.get("max"),
        "offenders": index.get("outside"),
        "ids_count": index.get("total"),
    }
