"""A squeeze without an axis: the axes that it is meant to take are named.

Facts:

- ``file``, ``line``, ``column``: the squeeze.
- ``shape``: of its input in the failing step; ``dropped``: the axes that went; ``batch_axis``: that of the samples.
- ``named``: True where the code names an axis already.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, call_operand, candidates, module_of, named_line
from firstcause.fix.rewrite import added_keyword
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "squeeze-drops-batch-dimension"
NAMES = frozenset({"squeeze", "squeeze_"})


def line(facts: Facts, project: Project) -> Site | None:
    """The line of the squeeze."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Name the axes besides the batch's; None where the batch axis is not known, or an axis is named already."""
    module, batch = module_of(facts, project), facts.get("batch_axis")
    if module is None or batch is None or facts.get("named"):
        return None
    found = candidates(project, module, facts, _squeezed)
    meant = [a for a in facts["dropped"] if a != batch]
    if len(found) != 1 or not meant:
        return None
    call = found[0][0]
    is_last = len(meant) == 1 and meant[0] == len(facts["shape"]) - 1
    text = "-1" if is_last else str(meant[0] if len(meant) == 1 else tuple(meant))
    assert isinstance(call, ast.Call)
    edits = [added_keyword(module, call, text if not call.args else f"dim={text}")]
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Name the axis at {module.site(call)}: squeeze() takes the batch axis {batch} of a batch of one too.",
        f"{module.site(call)}: only axis {text} goes; a batch of one sample keeps its axis.",
        "Other axes of size 1 that some inputs have: they stay now.",
    )


def _squeezed(project: Project, module: Module, node: ast.expr) -> ast.expr | None:
    return call_operand(project, module, node, NAMES)
