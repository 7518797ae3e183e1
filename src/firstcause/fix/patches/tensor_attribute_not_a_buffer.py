"""A module keeps a tensor as a plain attribute: it is registered as a buffer.

Facts:

- ``class``, ``attribute``: the class of the module, and the attribute's name.
- ``file``, ``line``: the user's line that failed.
- ``beside``: the attributes of the class that checkpoints lack; the line is then that of the constructor which makes the first.
"""

from __future__ import annotations

import ast

from firstcause.fix.bindings import attribute_binding
from firstcause.fix.clearing import statement_of
from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, named_line
from firstcause.fix.rewrite import replaced
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "tensor-attribute-not-a-buffer"
OF_TENSORS = frozenset({"clone", "detach", "new_empty", "new_full", "new_ones", "new_tensor", "new_zeros"})


def line(facts: Facts, project: Project) -> Site | None:
    """The line that assigns the attribute; where several do, the line that failed."""
    found = attribute_binding(project, str(facts.get("class")), str(facts.get("attribute")))
    if found is not None and not facts.get("beside"):
        return found.module.site(found.statement)
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Register the tensor where the constructor assigns it; None where it is a list or is assigned elsewhere too."""
    name, beside = str(facts.get("attribute")), facts.get("beside")
    if beside:
        place = statement_of(facts, project)
    else:
        found = attribute_binding(project, str(facts.get("class")), name)
        place = (found.module, found.statement) if found is not None else None
    if place is None:
        return None
    module, statement = place
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
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
    if beside:
        made = _made(module, function, beside)
        if {n for _, n, _ in made} != set(beside):
            return None
        return draft(
            project,
            root,
            CAUSE,
            [replaced(module, s, f'{owner}.register_buffer("{n}", {v})') for s, n, v in made],
            f"Register {' and '.join(f'`{owner}.{n}`' for n in beside)} as buffers: checkpoints hold them.",
            f"{module.site(statement)}: state_dict has more keys, and .to(), .half() and .cuda() move them too.",
            "Checkpoints that were written before: they lack the keys, and load_state_dict says so.",
        )
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


def _is_tensor(made: ast.expr) -> bool:
    """Whether a value is made by torch, or by a method that only tensors have."""
    if not isinstance(made, ast.Call):
        return False
    named = isinstance(made.func, ast.Attribute) and made.func.attr in OF_TENSORS
    return named or ast.unparse(made.func).startswith("torch.")


def _made(module: Module, function: ast.FunctionDef, names: list[str]) -> list[tuple[ast.Assign, str, str]]:
    """The constructor's assignments of tensors to these attributes, with names and values."""
    found = []
    for statement in function.body:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        target, made = statement.targets[0], statement.value
        if _is_tensor(made) and isinstance(target, ast.Attribute) and target.attr in names:
            found.append((statement, target.attr, module.segment(made)))
    return found
