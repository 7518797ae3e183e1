"""Models that differ from rank to rank: rank 0's weights are sent to all of them once the model is made.

Facts:

- ``file``, ``line``: the statement that makes the model.
- ``wrapped``: whether DistributedDataParallel holds it.
"""

from __future__ import annotations

import ast

from firstcause.fix.clearing import statement_of
from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, named_line
from firstcause.fix.scopes import named
from firstcause.fix.statements import inserted_line_after
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "rank-specific-initial-weights"


def line(facts: Facts, project: Project) -> Site | None:
    """The statement that makes the model."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """A broadcast after it; None where the model gets no plain name there, or DistributedDataParallel sent them already."""
    found = statement_of(facts, project)
    if found is None or facts.get("wrapped"):
        return None
    module, statement = found
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, broadcast = statement.targets[0], named(module, "torch.distributed.broadcast")
    if broadcast is None or not isinstance(target, (ast.Name, ast.Attribute)):
        return None
    text = f"for held in {module.segment(target)}.state_dict().values(): {broadcast}(held, src=0)"
    edit = inserted_line_after(module, _after(module, statement), text)
    if edit is None:
        return None
    return draft(
        project,
        root,
        CAUSE,
        [edit],
        f"Send rank 0's weights and buffers to all ranks once the model is made, at {module.site(statement)}.",
        "All ranks begin with one model; seeds may differ from rank to rank as before.",
        "Ranks that step by themselves later, and layers that are made after it.",
    )


def _after(module: Module, statement: ast.stmt) -> ast.stmt:
    """The statement, or the later one of the same function that joins the group: nothing can be sent before."""
    function = module.function(statement)
    joins = [
        s
        for c in module.nodes(ast.Call)
        if module.segment(c.func).endswith("init_process_group")
        and module.function(c) is function
        and (s := module.statement(c)) is not None
    ]
    return max([statement, *joins], key=lambda s: s.lineno)
