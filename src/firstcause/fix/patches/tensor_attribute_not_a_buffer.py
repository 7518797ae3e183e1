"""A module keeps a tensor as a plain attribute: it is registered as a buffer.

Facts:

- ``class``, ``attribute``: the class of the module, and the attribute's name.
- ``file``, ``line``: the user's line that failed.
"""

from __future__ import annotations

import ast

from firstcause.fix.bindings import attribute_binding
from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, named_line
from firstcause.fix.rewrite import replaced
from firstcause.schema import Fix, Site
from firstcause.source import Project

CAUSE = "tensor-attribute-not-a-buffer"


def line(facts: Facts, project: Project) -> Site | None:
    """The line that assigns the attribute; where several do, the line that failed."""
    found = attribute_binding(project, str(facts.get("class")), str(facts.get("attribute")))
    if found is not None:
        return found.module.site(found.statement)
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Register the tensor where the constructor assigns it; None where it is a list or is assigned elsewhere too."""
    name = str(facts.get("attribute"))
    found = attribute_binding(project, str(facts.get("class")), name)
    if found is None or not isinstance(found.statement, ast.Assign) or len(found.statement.targets) != 1:
        return None
    module, statement = found.module, found.statement
    target, function = statement.targets[0], module.function(statement)
    if not isinstance(target, ast.Attribute) or not isinstance(function, ast.FunctionDef):
        return None
    if function.name != "__init__" or isinstance(
        statement.value, (ast.List, ast.Tuple, ast.ListComp, ast.IfExp)
    ):
        return None
    if not any("super().__init__" in ast.unparse(s) for s in function.body if s.lineno < statement.lineno):
        return None
    owner = module.segment(target.value)
    value = module.segment(statement.value)
    return draft(
        project,
        root,
        CAUSE,
        [replaced(module, statement, f'{owner}.register_buffer("{name}", {value}, persistent=False)')],
        f"Register `{owner}.{name}` as a buffer: it then follows the module to its dtype and device.",
        f"{module.site(statement)}: `{name}` is moved by .to(), .double(), .half() and .cuda(); state_dict stays as it is "
        f"(persistent=False).",
        "A tensor that has to be in checkpoints: leave persistent at True, old checkpoints then lack its key.",
    )
