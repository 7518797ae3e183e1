"""NaN that is in the data before the model sees it: the line that prepared the data is named, seldom patched.

What a missing value means (drop the row, impute, repair the source) is the user's decision. The one patch
made is for 0/0: a standardisation that divides a constant column by its deviation, or a ratio whose warning
the code silences.

Facts:

- ``file``, ``line``, ``name``: the batch variable (or an expression such as ``batch["x"]``) that holds NaN, and
  a line of the user that binds or reads it.
- ``whole_columns``: True where the NaN fills whole columns in every sample; optional.
"""

from __future__ import annotations

import ast

from firstcause.fix.batches import batch_origins
from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts
from firstcause.fix.rewrite import inserted_after, inserted_before
from firstcause.schema import Fix, Site
from firstcause.source import Module, Origin, Project
from firstcause.source.callees import callees
from firstcause.source.callsites import last_name
from firstcause.source.data import preparing_site
from firstcause.source.flow import new_walk, value_origins
from firstcause.source.frames import Value
from firstcause.source.values import number

CAUSE = "nan-in-data"
CAN_BE_NAN = ("log", "log2", "log10", "log1p", "sqrt", "arcsin", "arccos", "acos", "asin", "frombuffer")
# What is asked, and done, of missing values.
CLEANS = frozenset(
    {
        "isnan",
        "isna",
        "isnull",
        "isfinite",
        "notna",
        "notnull",
        "nan_to_num",
        "fillna",
        "ffill",
        "bfill",
        "interpolate",
    }
)
# Works for torch and numpy alike, unlike clamp_min or maximum.
SMALL = "1e-8"


def line(facts: Facts, project: Project) -> Site | None:
    """The line that prepared the numbers last; where it calls what is to clean them, the line that hands them back."""
    site = preparing_site(_origins(facts, project))
    return (site and _cleaning(project, site)) or site


def _cleaning(project: Project, site: Site) -> Site | None:
    """Where a function that looks for missing values gives back what has some left; None where the line calls none."""
    calls = [
        Value(module, node)
        for module in project.modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and node.lineno == site.line and module.site(node).file == site.file
    ]
    for callee in [c for call in calls for c in callees(new_walk(project), call)]:
        if callee.function is None or callee.module is None:
            continue
        body = list(ast.walk(callee.function))
        returned = [n for n in body if isinstance(n, ast.Return) and n.value is not None]
        asks = any(isinstance(n, (ast.Attribute, ast.Name)) and last_name(n) in CLEANS for n in body)
        if asks and len(returned) == 1:
            return callee.module.site(returned[0])
    return None


def _origins(facts: Facts, project: Project) -> list[Origin]:
    """Where the batch's numbers come from; of several places, those that can make a NaN best."""
    found = batch_origins(facts, project)
    ranks = [_rank(project, origin) for origin in found]
    return [o for o, rank in zip(found, ranks, strict=True) if rank == max(ranks)]


def _rank(project: Project, origin: Origin) -> int:
    """How well an expression can make a NaN of good numbers: where the code silences it, by 0/0, by its domain."""
    if _is_silenced(origin):
        return 3
    node = origin.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod)):
        return 2 if number(project, Value(origin.module, node.right)) is None else 0
    return 1 if isinstance(node, ast.Call) and last_name(node.func) in CAN_BE_NAN else 0


def _is_silenced(origin: Origin) -> bool:
    """Whether an expression stands in ``with np.errstate(...)``: somebody has seen the warning."""
    for parent in origin.module.ancestors(origin.node):
        if isinstance(parent, ast.With):
            contexts = [item.context_expr for item in parent.items]
            if any(isinstance(c, ast.Call) and last_name(c.func) == "errstate" for c in contexts):
                return True
    return False


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Keep a denominator above 0 where 0/0 is shown to be the source; None for all other data."""
    found = _origins(facts, project)
    if len(found) != 1:
        return None
    module, node = found[0].module, found[0].node
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div):
        return None
    is_constant_column = bool(facts.get("whole_columns")) and _is_deviation(project, module, node.right)
    if not is_constant_column and not _is_silenced(found[0]):
        return None
    edits = [inserted_after(module, node.right, f" + {SMALL})"), inserted_before(module, node.right, "(")]
    text, site = module.segment(node.right), module.site(node)
    what = "a constant column" if is_constant_column else "0"
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Keep the denominator at {site} above 0: {what} is divided by `{text}`, which is 0 there.",
        f"{site}: `{text}` becomes `({text} + {SMALL})`; what was 0/0 becomes 0 instead of NaN.",
        "What a row or column without information should mean: it now has the value 0 and stays in the data.",
    )


def _is_deviation(project: Project, module: Module, node: ast.expr) -> bool:
    origins = value_origins(project, Value(module, node))
    return bool(origins) and all(
        isinstance(o.node, ast.Call) and isinstance(o.node.func, ast.Attribute) and o.node.func.attr == "std"
        for o in origins
    )
