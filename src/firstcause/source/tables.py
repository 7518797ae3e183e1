"""Where the program makes an embedding of given vectors and says nothing of freezing: torch freezes it then."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from firstcause.source.callsites import last_name
from firstcause.source.module import Module
from firstcause.source.project import Project

KINDS = frozenset({"Embedding", "EmbeddingBag"})


@dataclass(frozen=True)
class Table:
    """One call of ``from_pretrained`` without ``freeze``; ``name`` is what it is assigned to, empty where it is not at once."""

    module: Module
    call: ast.Call
    name: str


def tables(project: Project) -> list[Table]:
    """All of them, in the order of the text of each file."""
    found = []
    for module in project.modules:
        for node in module.nodes(ast.Call):
            if isinstance(node, ast.Call) and _is_silent(node):
                found.append(Table(module, node, _name(module, node)))
    return found


def maker(name: str, made: list[Table], count: int) -> Table | None:
    """The call that made the parameter of this name, one of ``count``; None where it is not to be told."""
    parts = name.split(".")[:-1]
    named = [t for t in made if t.name and t.name in parts]
    if len(named) == 1:
        return named[0]
    return made[0] if len(made) == count == 1 else None


def _is_silent(call: ast.Call) -> bool:
    made = call.func
    if not isinstance(made, ast.Attribute) or made.attr != "from_pretrained":
        return False
    given = {k.arg for k in call.keywords}
    # Starred arguments may hold it, and two arguments do.
    told = (
        given & {"freeze", None} or len(call.args) > 1 or any(isinstance(a, ast.Starred) for a in call.args)
    )
    return last_name(made.value) in KINDS and not told


def _name(module: Module, call: ast.Call) -> str:
    parent = module.parents.get(call)
    targets = parent.targets if isinstance(parent, ast.Assign) else []
    if isinstance(parent, ast.AnnAssign):
        targets = [parent.target]
    if isinstance(parent, ast.keyword):
        return parent.arg or ""
    if len(targets) != 1:
        return ""
    (target,) = targets
    return target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
