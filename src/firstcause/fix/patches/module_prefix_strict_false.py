"""Keys that differ by a prefix: it is taken off, or put on, where the state is loaded, and the loading is strict again.

Facts:

- ``file``, ``line`` and the columns: the call of ``load_state_dict``.
- ``prefix``, ``side``: the prefix, and who has it: ``given`` the state, ``own`` the module.
- ``own``, ``matched_then``: how many entries the module has, and how many match then.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import replaced
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "module-prefix-strict-false"


def line(facts: Facts, project: Project) -> Site | None:
    """The call that loads."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Rename the keys in the call; None where the line holds several such calls."""
    module = module_of(facts, project)
    found = [c for c in module.nodes_on(int(facts["line"])) if _loads(c)] if module is not None else []
    call = found[0] if len(found) == 1 else None
    if module is None or not isinstance(call, ast.Call) or not call.args or not facts.get("prefix"):
        return None
    prefix, site = str(facts["prefix"]), module.site(call)
    key = f'k.removeprefix("{prefix}")' if facts.get("side") == "given" else f'f"{prefix}{{k}}"'
    text = f"{{{key}: v for k, v in {module.segment(call.args[0])}.items()}}"
    edits = [replaced(module, call.args[0], text), *_strict(module, call, facts)]
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Load the state with {prefix!r} {'taken off' if facts.get('side') == 'given' else 'put before'} each key, at {site}.",
        f"{facts.get('matched_then')} of {facts.get('own')} entries are loaded there, where none was.",
        "States that were saved otherwise: save the inner module's state, so that no prefix is written.",
    )


def _strict(module: Module, call: ast.Call, facts: Facts) -> list[Edit]:
    """Strict again where all match: the next mismatch is to be told."""
    if facts.get("matched_then") != facts.get("own"):
        return []
    return [replaced(module, k.value, "True") for k in call.keywords if k.arg == "strict"]


def _loads(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "load_state_dict"
    )
