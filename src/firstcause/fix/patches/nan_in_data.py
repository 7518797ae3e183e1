"""NaN that is in the data before the model sees it: the line that prepared the data is named, seldom patched.

What a missing value means (drop the row, impute, repair the source) is the user's decision. The one patch
made is for a column that is constant: a standardisation divides it by a deviation of 0.

Facts:

- ``file``, ``line``, ``name``: the batch variable (or an expression such as ``batch["x"]``) that holds NaN, and
  a line of the user that binds or reads it.
- ``whole_columns``: True where the NaN fills whole columns in every sample; optional.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, module_of
from firstcause.fix.rewrite import inserted_after, inserted_before
from firstcause.schema import Fix, Site
from firstcause.source import Module, Origin, Project, data_origin
from firstcause.source.data import preparing_site
from firstcause.source.flow import value_origins
from firstcause.source.frames import Value

CAUSE = "nan-in-data"
# Works for torch and numpy alike, unlike clamp_min or maximum.
SMALL = "1e-8"


def line(facts: Facts, project: Project) -> Site | None:
    """The line that prepared the numbers last."""
    return preparing_site(_origins(facts, project))


def _origins(facts: Facts, project: Project) -> list[Origin]:
    """Where the batch's numbers come from; of a dict or tuple, those of the one part that the line reads."""
    name, at = str(facts.get("name") or ""), int(facts.get("line") or 0)
    module = module_of(facts, project)
    if module is None or not name:
        return []
    found = data_origin(project, module.path, at, name)
    if found and not all(isinstance(o.node, (ast.Dict, ast.Tuple, ast.List)) for o in found):
        return found
    parts = {
        module.segment(n)
        for n in module.nodes_on(at)
        if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name) and n.value.id == name
    }
    return data_origin(project, module.path, at, parts.pop()) if len(parts) == 1 else found


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Keep a standard deviation above 0 where whole columns became NaN by it; None for all other data."""
    if not facts.get("whole_columns"):
        return None
    found = _origins(facts, project)
    if (
        len(found) != 1
        or not isinstance(found[0].node, ast.BinOp)
        or not isinstance(found[0].node.op, ast.Div)
    ):
        return None
    module, node = found[0].module, found[0].node
    if not _is_deviation(project, module, node.right):
        return None
    edits = [inserted_after(module, node.right, f" + {SMALL})"), inserted_before(module, node.right, "(")]
    text, site = module.segment(node.right), module.site(node)
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Keep the deviation at {site} above 0: a constant column is divided by `{text}`, which is 0 there.",
        f"{site}: `{text}` becomes `({text} + {SMALL})`; constant columns become 0 instead of NaN.",
        "That the column carries nothing: it can as well be left out of the features.",
    )


def _is_deviation(project: Project, module: Module, node: ast.expr) -> bool:
    origins = value_origins(project, Value(module, node))
    return bool(origins) and all(
        isinstance(o.node, ast.Call) and isinstance(o.node.func, ast.Attribute) and o.node.func.attr == "std"
        for o in origins
    )
