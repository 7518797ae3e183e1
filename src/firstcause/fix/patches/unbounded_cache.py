"""A store of values grows without bound and the training reads none of the old ones: it gets a bound.

Facts:

- ``site``: the place of the statement that feeds the store, or of the decorator of a function with a cache.
- ``file``, ``name``, ``container``: the holder's file, last name and type.
- ``cached``: whether it is the cache of a function.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts
from firstcause.fix.patches.loss_history_keeps_graph import kept_by
from firstcause.fix.rewrite import replaced
from firstcause.fix.statements import inserted_line_after
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.feeds import last_name

CAUSE = "unbounded-cache"
# The experiment showed that none is read again; a few of the newest stay for whoever looks at them.
KEPT = 16


def line(facts: Facts, project: Project) -> Site | None:
    """The statement that feeds the store, or the decorator of the cache."""
    if facts.get("cached"):
        found = _decorator(facts, project)
        return found[0].site(found[1]) if found is not None else None
    fed = kept_by(facts, project)
    return fed[0].site(fed[1]) if fed is not None else None


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Keep the newest alone; None where the store is none of Python's containers, or is fed in another way."""
    if facts.get("cached"):
        cached = _decorator(facts, project)
        if cached is None:
            return None
        module, node = cached
        edits, what = _limited(module, node), f"the cache at {module.site(node)}"
    else:
        fed = kept_by(facts, project)
        if fed is None:
            return None
        module, statement = fed
        text = _bound(module, statement, facts)
        edit = inserted_line_after(module, statement, text) if text else None
        edits, what = (
            [edit] if edit is not None else [],
            f"`{facts.get('name')}`, fed at {module.site(statement)}",
        )
    if not edits:
        return None
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Keep the newest {KEPT} of {what}.",
        f"What is older than {KEPT} entries is let go of; the training was seen to compute the same without it.",
        "Another bound may be meant: it is the number in this line.",
    )


def _decorator(facts: Facts, project: Project) -> tuple[Module, ast.expr] | None:
    place: Facts = facts.get("site") or {}
    found = project.module(str(place["file"])) if place.get("file") else None
    for function in found.nodes(ast.FunctionDef) if found is not None else ():
        for decorator in function.decorator_list:
            name = last_name(decorator.func if isinstance(decorator, ast.Call) else decorator)
            first = min([function.lineno, *(d.lineno for d in function.decorator_list)])
            if name in ("cache", "lru_cache") and int(place["line"]) in (
                first,
                function.lineno,
                decorator.lineno,
            ):
                assert found is not None
                return found, decorator
    return None


def _limited(module: Module, decorator: ast.expr) -> list[Edit]:
    """The decorator with a size; ``cache`` has none, and is another name of the same."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    if last_name(called) == "lru_cache":
        return [replaced(module, decorator, f"{module.segment(called)}(maxsize={KEPT})")]
    if isinstance(called, ast.Attribute):
        return [replaced(module, decorator, f"{module.segment(called.value)}.lru_cache(maxsize={KEPT})")]
    names = {
        a.asname or a.name for n in module.nodes(ast.ImportFrom) if n.module == "functools" for a in n.names
    }
    return [replaced(module, decorator, f"lru_cache(maxsize={KEPT})")] if "lru_cache" in names else []


def _bound(module: Module, statement: ast.stmt, facts: Facts) -> str:
    """A statement that lets go of the oldest; empty where the store is none that has an order."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        called = statement.value.func
        if not isinstance(called, ast.Attribute):
            return ""
        store = module.segment(called.value)
        if called.attr not in ("append", "extend"):
            return ""
        if facts.get("container") == "deque" and not isinstance(called.value, ast.Subscript):
            return f"while len({store}) > {KEPT}: {store}.popleft()"
        return f"del {store}[:-{KEPT}]"
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Subscript) and facts.get("container") != "list":
            store = module.segment(target.value)
            return f"while len({store}) > {KEPT}: {store}.pop(next(iter({store})))"
    return ""
