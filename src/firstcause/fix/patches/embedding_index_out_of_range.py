"""An id outside an embedding's table: the table gets the row that is missing, where its size is decided.

Facts:

- ``file``, ``line``: the user's line that calls the embedding.
- ``class_name``, ``attribute_path``: a class of the project and the embedding's path beneath its objects, as
  ``named_modules`` writes it; the model's own class gives the best answer.
- ``num_embeddings``: the table's rows; ``embedding_dim``: its columns, optional.
- ``ids_min``, ``ids_max``: over the failing batch.
- ``offenders``, ``ids_count``: ids out of range, and all ids, in the failing batch.
- ``known_max``: the largest id over all data seen, where known; optional.
- ``module_path``: the embedding's path in the model, where the model is a library's; optional.
- ``longer_at``: where a trained model is given more positions than the table has; then it is what has to be cut.
- ``ids``: the source text of the ids on the failing line, where known; optional.
"""

from __future__ import annotations

import ast
import re

from firstcause.fix.counts import Count, by_option, count_of, raised
from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.library_models import made_by, size_of
from firstcause.fix.numbering import missing_offset
from firstcause.fix.operations import Facts, candidates, module_of, name_of, named_line
from firstcause.fix.rewrite import added
from firstcause.fix.submodules import argument_of, constructions
from firstcause.schema import Fix, Site
from firstcause.source import Construction, Module, Project
from firstcause.source.callees import library_name
from firstcause.source.data import data_origins_of, preparing_site
from firstcause.source.flow import find, new_walk
from firstcause.source.frames import Value

CAUSE = "embedding-index-out-of-range"
# Special tokens (padding, unknown, start, end, mask) that a vocabulary's size may leave out.
MAX_MISSING = 8
# From this share of ids on, the ids are the rule and the table the exception.
MANY = 0.1
# Tables of a library's model that hold no vocabulary.
POSITIONS = re.compile(r"pos|wpe|type", re.IGNORECASE)


def line(facts: Facts, project: Project) -> Site | None:
    """Where the table's size is decided if the table is too small, else where the ids were made."""
    if facts.get("longer_at"):
        return named_line(facts["longer_at"], project)
    if _is_table_too_small(facts):
        count, built = _rows(facts, project), _constructions(facts, project)
        if count is not None or built:
            return count.site if count is not None else built[0].site
        if not facts.get("class_name") and not POSITIONS.search(str(facts.get("module_path") or "")):
            said = size_of(project, "vocab_size", seen=facts.get("num_embeddings"))
            made = made_by(project, "vocab_size") if said is None else None
            if said is not None or made is not None:
                return said.site if said is not None else made[0].site(made[1]) if made is not None else None
    ids = _ids(facts, project)
    found = data_origins_of(project, ids) if ids is not None else []
    return preparing_site(found) if found else None


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Add the missing row; None where ids are negative, far out of range, or the size has several origins."""
    if facts.get("longer_at"):
        # Rows that were never trained would be no help.
        return None
    rows, largest = facts.get("num_embeddings"), _largest(facts)
    if rows is None or largest is None or facts.get("ids_min") is None or int(facts["ids_min"]) < 0:
        return None
    count = _rows(facts, project)
    if count is None or largest < int(rows):
        return None
    edits, missing = _enlarged(facts, project, count, largest - int(rows) + 1)
    if not edits:
        return None
    what = f"{missing} row{'s' if missing > 1 else ''}"
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Give {name_of(facts)} {what} more: id {largest} was asked of a table with rows 0 to {int(rows) - 1}."
        f"{by_option(project, count, int(rows) + missing)}",
        f"{count.site}: `{count.text}` grows by {missing}, so the table has {int(rows) + missing} rows instead of {rows}.",
        f"Ids above {largest}, which were not seen, and checkpoints of the smaller table: they have {rows} rows and do not "
        "load into the new one.",
    )


def _enlarged(facts: Facts, project: Project, count: Count, short: int) -> tuple[list[Edit], int]:
    """Edits for the rows that are missing, at least ``short``, and how many they add."""
    ids = _ids(facts, project)
    numbered = missing_offset(project, count, ids) if ids is not None else None
    if numbered is not None and numbered.first >= short:
        # The ids start at an offset that the count leaves out: what the code says beats what one batch shows.
        offset = numbered.offset.module.segment(numbered.offset.node)
        assert isinstance(count.place.node, ast.expr)
        return added(count.place.module, count.place.node, f" + {offset}"), numbered.first
    if short <= (MAX_MISSING if facts.get("known_max") is not None else 1):
        return raised(count, short), short
    return [], 0


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
    return count_of(project, value, facts.get("num_embeddings")) if value is not None else None


def _ids(facts: Facts, project: Project) -> Value | None:
    """The ids on the failing line: as given, or the first argument of the call that looks them up."""
    module = module_of(facts, project)
    if module is None:
        return None
    if facts.get("ids"):
        node = find(module, int(facts["line"]), str(facts["ids"]))
        return Value(module, node) if node is not None else None
    found = candidates(project, module, facts, _looked_up)
    return Value(module, found[0][1]) if found else None


def _looked_up(project: Project, module: Module, node: ast.expr) -> ast.expr | None:
    if not isinstance(node, ast.Call) or not node.args or isinstance(node.args[0], ast.Starred):
        return None
    walk = new_walk(project, spread=True)
    value = Value(module, node)
    if library_name(walk, value).rpartition(".")[2] in ("embedding", "embedding_bag"):
        return node.args[0]
    for origin in walk.callables(value.at(node.func)):
        built = origin.node
        if (
            isinstance(built, ast.Call)
            and "Embedding" in Construction(project, Value(origin.module, built), ()).callee
        ):
            return node.args[0]
    return None
