"""A Linear whose in_features is not what arrives: the number is corrected where it is written.

Facts:

- ``class_name``, ``attribute_path``: a class of the project and the Linear's path beneath its objects.
- ``in_features``, ``out_features``: of the Linear; ``out_features`` is optional.
- ``actual_features``: the size of the last axis that arrived.
- ``shape``: (C, H, W) or (C, L) of one sample before it was flattened, where known; optional.
- ``file``, ``line``: the user's line that failed: the Linear's call, or a view that writes the same number.
- ``rows``: of the view or reshape at that line, which put the samples into other rows; then nothing else is given.
"""

from __future__ import annotations

import ast

from firstcause.fix.counts import count_of, set_to
from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.factors import corrected_product
from firstcause.fix.operations import Facts, candidates, module_of, named_line
from firstcause.fix.rewrite import replaced
from firstcause.fix.submodules import argument_of, constructions
from firstcause.schema import Fix, Site
from firstcause.source import Construction, Module, Project
from firstcause.source.flow import value_origins
from firstcause.source.frames import Value
from firstcause.source.values import number

CAUSE = "flatten-linear-mismatch"
RESHAPES = frozenset({"view", "reshape"})


def line(facts: Facts, project: Project) -> Site | None:
    """The line where in_features is written, or where the Linear is built; of other rows the one that made them."""
    if facts.get("rows") is not None:
        return named_line(facts, project)
    found = _constructions(facts, project)
    value = argument_of(found, "in_features", 0)
    if value is None:
        return found[0].site if found else None
    origins = value_origins(project, value)
    if len(origins) == 1 and origins[0].kind != "unknown":
        return origins[0].site
    return value.module.site(value.node)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Write the size that arrives; None where the number is computed in a way that does not show which part is wrong."""
    if facts.get("rows") is not None:
        return _rows_kept(facts, project, root)
    old, new = facts.get("in_features"), facts.get("actual_features")
    if old is None or new is None or int(old) == int(new):
        return None
    found = _constructions(facts, project)
    value = argument_of(found, "in_features", 0)
    edits = _edits(facts, project, value, int(old), int(new)) if value is not None else []
    if value is None or not edits:
        return None
    for reshaped in _reshapes(project, value.module, int(old)):
        # A view to the same number is wrong in the same way; one that reads the corrected variable is not.
        edits += [e for e in _edits(facts, project, reshaped, int(old), int(new)) if e not in edits]
    shape = facts.get("shape")
    seen = f" ({' x '.join(map(str, shape))} before it is flattened)" if shape else ""
    name = facts.get("attribute_path") or value.module.segment(found[0].call.func)
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Build `{name}` for the {new} features{seen} that arrive instead of {old}.",
        f"{found[0].site}: in_features of `{name}` is {new} instead of {old}; its weight has another shape.",
        f"Inputs of another size than the recorded one: they give another number of features. Checkpoints with "
        f"{old} features do not load into the new layer.",
    )


def _rows_kept(facts: Facts, project: Project, root: str) -> Fix | None:
    """As many rows as there are samples, in place of the number that is written."""
    module = module_of(facts, project)
    found = candidates(project, module, facts, _reshaped) if module is not None else []
    if module is None or len(found) != 1:
        return None
    call, given = found[0]
    assert isinstance(call, ast.Call)
    sizes = call.args if not isinstance(call.args[0], (ast.Tuple, ast.List)) else call.args[0].elts
    if len(sizes) != 2:
        return None
    return draft(
        project,
        root,
        CAUSE,
        [replaced(module, call, f"{module.segment(given)}.flatten(1)")],
        f"Keep the samples apart at {module.site(call)}: as many rows as there are, and not {facts['rows']}.",
        f"{module.site(call)}: a batch of another size, as the last one, gives a row for each of its samples.",
        "Other lines that count on batches of one size.",
    )


def _reshaped(project: Project, module: Module, node: ast.expr) -> ast.expr | None:
    """What a view or reshape into two axes is called on."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
        return None
    return node.func.value if node.func.attr in RESHAPES else None


def _constructions(facts: Facts, project: Project) -> list[Construction]:
    seen = {("in_features", 0): facts.get("in_features"), ("out_features", 1): facts.get("out_features")}
    return constructions(facts, project, "Linear", seen)


def _edits(facts: Facts, project: Project, value: Value, old: int, new: int) -> list[Edit]:
    origins = value_origins(project, value)
    if len(origins) != 1 or not origins[0].exact:
        return []
    origin = origins[0]
    if isinstance(origin.node, ast.Constant):
        count = count_of(project, value)
        return set_to(count, old, new) if count is not None else []
    if isinstance(origin.node, ast.BinOp) and origin.value is not None:
        shape = tuple(int(n) for n in facts.get("shape") or ())
        return corrected_product(project, origin.value, old, new, shape)
    return []


def _reshapes(project: Project, module: Module, old: int) -> list[Value]:
    """The sizes in ``x.view(-1, size)`` that equal the wrong number of features."""
    calls = [n for n in ast.walk(module.tree) if isinstance(n, ast.Call) and len(n.args) == 2]
    reshaping = [c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr in RESHAPES]
    return [v for v in (Value(module, c.args[1]) for c in reshaping) if number(project, v) == old]
