"""Modules in a plain container: the container becomes one that registers them.

Facts:

- ``class_name``, ``attribute``: the class and the attribute that keeps them.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts
from firstcause.fix.rewrite import replaced
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "unregistered-submodules"
LISTS = (ast.List, ast.ListComp, ast.Tuple)
DICTS = (ast.Dict, ast.DictComp)


def line(facts: Facts, project: Project) -> Site | None:
    """The line that makes the container."""
    found = _made(facts, project)
    return found[0].site(found[1]) if found is not None else None


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """``nn.ModuleList`` or ``nn.ModuleDict`` around it; None where it holds anything but modules."""
    found = _made(facts, project)
    prefix = _nn(*found) if found is not None else None
    if found is None or prefix is None:
        return None
    module, statement = found
    value = statement.value
    kind = "ModuleList" if _is_list(value) else "ModuleDict"
    if value is None or not _holds_modules(value):
        return None
    is_empty = isinstance(value, ast.Call) or not (getattr(value, "elts", 1) and getattr(value, "keys", 1))
    text = f"{prefix}.{kind}({'' if is_empty else module.segment(value)})"
    site = module.site(statement)
    return draft(
        project,
        root,
        CAUSE,
        [replaced(module, value, text)],
        f"Hold the modules of `self.{facts['attribute']}` in `{prefix}.{kind}` at {site}.",
        f"{site}: they are part of parameters(), state_dict(), to(), train() and eval(); checkpoints hold more keys.",
        "Weights that were never saved; old checkpoints lack these keys.",
    )


def _made(facts: Facts, project: Project) -> tuple[Module, ast.Assign | ast.AnnAssign] | None:
    name, attribute = facts.get("class_name"), facts.get("attribute")
    for module in project.modules:
        for kind in module.nodes(ast.ClassDef):
            for node in ast.walk(kind) if kind.name == name else ():
                targets = node.targets if isinstance(node, ast.Assign) else []
                targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
                if any(isinstance(t, ast.Attribute) and t.attr == attribute for t in targets):
                    assert isinstance(node, (ast.Assign, ast.AnnAssign))
                    return module, node
    return None


def _is_list(value: ast.expr | None) -> bool:
    return isinstance(value, LISTS) or (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id in ("list", "tuple")
    )


def _holds_modules(value: ast.expr) -> bool:
    """Whether the text may be handed to a container of modules: no tuples within, keys that are text."""
    if isinstance(value, ast.Call):
        return (
            isinstance(value.func, ast.Name) and value.func.id in ("list", "dict", "tuple") and not value.args
        )
    if isinstance(value, ast.ListComp):
        return not isinstance(value.elt, LISTS + DICTS)
    if isinstance(value, (ast.List, ast.Tuple)):
        return not any(isinstance(e, LISTS + DICTS) for e in value.elts)
    if isinstance(value, ast.Dict):
        return all(isinstance(k, ast.Constant) and isinstance(k.value, str) for k in value.keys)
    return isinstance(value, ast.DictComp)


def _nn(module: Module, statement: ast.stmt) -> str | None:
    """How the file names ``torch.nn``: as it does for the base class."""
    kind = module.method_class(statement)
    bases = [module.segment(b) for b in kind.bases] if kind is not None else []
    if not bases:
        # No module itself: what it holds is registered nowhere.
        return None
    named = [b.rpartition(".")[0] for b in bases if b.endswith("nn.Module")]
    if named:
        return named[0]
    names = {
        module.segment(a.value) for a in module.nodes(ast.Attribute) if a.attr in ("Linear", "ModuleList")
    }
    return next(iter(names)) if len(names) == 1 else None
