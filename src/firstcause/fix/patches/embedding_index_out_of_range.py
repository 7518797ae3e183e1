"""An id outside an embedding's table: the table gets the row that is missing, where its size is decided.

Facts:

- ``file``, ``line``: the user's line that calls the embedding.
- ``class_name``, ``attribute_path``: a class of the project and the embedding's path beneath its objects, as
  ``named_modules`` writes it; the model's own class gives the best answer.
- ``num_embeddings``: the table's rows; ``embedding_dim``: its columns, optional.
- ``ids_min``, ``ids_max``: over the failing batch.
- ``offenders``, ``ids_count``: ids out of range, and all ids, in the failing batch.
- ``known_max``: the largest id over all data seen, where known; optional.
- ``ids``: the source text of the ids on the failing line, where known; optional.
"""

from __future__ import annotations

import ast

from firstcause.fix.counts import Count, count_of, raised
from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, module_of
from firstcause.fix.submodules import argument_of, constructions
from firstcause.schema import Fix, Site
from firstcause.source import Construction, Project, data_origin
from firstcause.source.data import preparing_site

CAUSE = "embedding-index-out-of-range"
# Special tokens (padding, unknown, start, end, mask) that a vocabulary's size may leave out.
MAX_MISSING = 8
# From this share of ids on, the ids are the rule and the table the exception.
MANY = 0.1


def line(facts: Facts, project: Project) -> Site | None:
    """Where the table's size is decided if the table is too small, else where the ids were made."""
    if _is_table_too_small(facts):
        count, built = _rows(facts, project), _constructions(facts, project)
        if count is not None or built:
            return count.site if count is not None else built[0].site
    ids = _ids_text(facts, project)
    found = data_origin(project, str(facts.get("file")), int(facts.get("line") or 0), ids) if ids else []
    return preparing_site(found) if found else None


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Add the missing row; None where ids are negative, far out of range, or the size has several origins."""
    rows, largest = facts.get("num_embeddings"), _largest(facts)
    if rows is None or largest is None or facts.get("ids_min") is None or int(facts["ids_min"]) < 0:
        return None
    missing = largest - int(rows) + 1
    if not 1 <= missing <= (MAX_MISSING if facts.get("known_max") is not None else 1):
        return None
    count = _rows(facts, project)
    edits = raised(count, missing) if count is not None else []
    if count is None or not edits:
        return None
    what = f"{missing} row{'s' if missing > 1 else ''}"
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Give `{facts['attribute_path']}` {what} more: id {largest} was asked of a table with rows 0 to {int(rows) - 1}.",
        f"{count.site}: `{count.text}` grows by {missing}, so the table has {int(rows) + missing} rows instead of {rows}.",
        f"Ids above {largest}, which were not seen, and checkpoints of the smaller table: they have {rows} rows and do not "
        "load into the new one.",
    )


def _is_table_too_small(facts: Facts) -> bool:
    rows, largest, smallest = facts.get("num_embeddings"), _largest(facts), facts.get("ids_min")
    if rows is None or largest is None or (smallest is not None and int(smallest) < 0):
        return False
    if largest - int(rows) < MAX_MISSING:
        return True
    offenders, total = facts.get("offenders"), facts.get("ids_count")
    return bool(offenders and total and offenders / total >= MANY)


def _largest(facts: Facts) -> int | None:
    known = [int(facts[key]) for key in ("ids_max", "known_max") if facts.get(key) is not None]
    return max(known) if known else None


def _constructions(facts: Facts, project: Project) -> list[Construction]:
    seen = {
        ("num_embeddings", 0): facts.get("num_embeddings"),
        ("embedding_dim", 1): facts.get("embedding_dim"),
    }
    return constructions(facts, project, "Embedding", seen) or constructions(
        facts, project, "EmbeddingBag", seen
    )


def _rows(facts: Facts, project: Project) -> Count | None:
    value = argument_of(_constructions(facts, project), "num_embeddings", 0)
    return count_of(project, value) if value is not None else None


def _ids_text(facts: Facts, project: Project) -> str:
    """The ids' source text: as given, or the argument of the embedding's call on the line."""
    if facts.get("ids"):
        return str(facts["ids"])
    module = module_of(facts, project)
    name = str(facts.get("attribute_path") or "").rpartition(".")[2]
    calls = (
        [n for n in module.nodes_on(int(facts["line"])) if isinstance(n, ast.Call) and n.args]
        if module
        else []
    )
    named = [c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == name]
    chosen = named or [c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == "embedding"]
    return module.segment(chosen[0].args[0]) if module is not None and len(chosen) >= 1 else ""
