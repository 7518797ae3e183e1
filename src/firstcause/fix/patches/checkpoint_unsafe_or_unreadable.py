"""A file that holds an object of the program's own: its class is allowed where the file is read.

Facts: ``file`` and ``line`` of the call that reads, ``how`` (refused, absent, damaged), and ``name``, the object's class.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import added_keyword
from firstcause.fix.scopes import imports_torch, statement_at
from firstcause.fix.statements import inserted_line_before
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "checkpoint-unsafe-or-unreadable"


def line(facts: Facts, project: Project) -> Site | None:
    """The one call that writes such files in this program, else the one that reads them."""
    saves = _saves(project)
    if facts.get("how") == "refused" and len(saves) == 1:
        module, call = saves[0]
        return module.site(_part(module, call) or call)
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Allow the one class by name, or all of a file that this program writes itself; None for a damaged one."""
    module = module_of(facts, project)
    statement = statement_at(module, facts) if module is not None else None
    if module is None or statement is None or facts.get("how") != "refused" or not _saves(project):
        return None
    name = str(facts.get("name")).rpartition(".")[2]
    own = [c for m in project.modules for c in m.nodes(ast.ClassDef) if c.name == name]
    here = any(c.name == name for c in module.nodes(ast.ClassDef))
    if own and here and imports_torch(module):
        edit = inserted_line_before(module, statement, f"torch.serialization.add_safe_globals([{name}])")
        edits, what = [edit] if edit is not None else [], f"Allow {name} where the file is read"
    else:
        calls = [
            n
            for n in ast.walk(statement)
            if isinstance(n, ast.Call) and module.segment(n.func).endswith("torch.load")
        ]
        given = any(k.arg == "weights_only" for c in calls for k in c.keywords)
        edits = (
            [added_keyword(module, calls[0], "weights_only=False")] if len(calls) == 1 and not given else []
        )
        what = "Read the objects, too, of a file that this program has written itself"
    site = module.site(statement)
    return (
        draft(
            project,
            root,
            CAUSE,
            edits,
            f"{what}, at {site}. Broader: save state_dicts and plain values only.",
            f"{site} reads the object by its class: use it for files of your own only.",
            "Files of others: what they hold runs as code when it is read.",
        )
        if edits
        else None
    )


def _saves(project: Project) -> list[tuple[Module, ast.Call]]:
    return [
        (m, c)
        for m in project.modules
        for c in m.nodes(ast.Call)
        if m.segment(c.func).endswith("torch.save") and c.args
    ]


def _part(module: Module, call: ast.Call) -> ast.expr | None:
    """The entry of a dict literal that is no state, where there is one alone."""
    table = call.args[0]
    if not isinstance(table, ast.Dict):
        return None
    plain = [v for v in table.values if isinstance(v, (ast.Name, ast.Attribute))]
    return plain[0] if len(plain) == 1 else None
