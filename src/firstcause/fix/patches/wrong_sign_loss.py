"""A term of the loss with the wrong sign: its minus goes, or comes.

Facts:

- ``file``, ``line``: where the term is made; ``lines`` all such lines of its file.
- ``kind``: ``error``, ``likelihood`` or ``action``.
- ``maximised``: whether the optimizer is told to maximise.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import inserted_before, replaced
from firstcause.fix.scopes import statement_at
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "wrong-sign-loss"
Change = tuple[Module, ast.AST, Edit]


def line(facts: Facts, project: Project) -> Site | None:
    """The line on which the sign stands, or should."""
    change = _change(facts, project)
    return change[0].site(change[1]) if change is not None else named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """The sign of that term turned; None where the code does not show it."""
    change = _change(facts, project)
    if change is None:
        return None
    module, node, edit = change
    site = module.site(node)
    return draft(
        project,
        root,
        CAUSE,
        [edit],
        f"Turn the sign at {site}: each step makes worse what it should make better.",
        f"{site}: the term is learned in the other direction.",
        "The balance between this term and others.",
    )


def _change(facts: Facts, project: Project) -> Change | None:
    module = module_of(facts, project)
    if module is None or "maximised" not in facts:
        return None
    if facts["maximised"]:
        told = [
            (m, c, k)
            for m in project.modules
            for c in m.nodes(ast.Call)
            for k in c.keywords
            if k.arg == "maximize"
        ]
        return (
            (told[0][0], told[0][1], replaced(told[0][0], told[0][2].value, "False"))
            if len(told) == 1
            else None
        )
    if facts["kind"] == "action":
        return _smaller(facts, module) if len(facts["lines"]) > 1 else _product(facts, module)
    return _written(facts, module)


def _product(facts: Facts, module: Module) -> Change | None:
    """``-`` before the product of log-probability and weight, or the one that stands there taken away."""
    products = [
        n
        for n in module.nodes_on(int(facts["line"]))
        if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult)
    ]
    named = [n for n in products if "log" in module.segment(n).lower()] or products
    return _turn(module, named[0]) if named else None


def _turn(module: Module, node: ast.expr) -> Change:
    left = node.left if isinstance(node, ast.BinOp) else node
    if isinstance(left, ast.UnaryOp) and isinstance(left.op, ast.USub):
        return module, node, replaced(module, left, module.segment(left.operand))
    around = module.parents.get(node)
    if isinstance(around, ast.UnaryOp) and isinstance(around.op, ast.USub):
        return module, node, replaced(module, around, f"({module.segment(node)})")
    return module, node, inserted_before(module, node, "-")


def _smaller(facts: Facts, module: Module) -> Change | None:
    """``-`` before the minimum of the plain and the clipped surrogate."""
    statements = [s for n in facts["lines"] if (s := statement_at(module, {"line": n})) is not None]
    names = {
        t.id for s in statements if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)
    }
    for call in module.nodes(ast.Call):
        last = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        used = {a.id for a in call.args if isinstance(a, ast.Name)}
        direct = any(isinstance(a, ast.BinOp) for a in call.args) and call.lineno <= facts["lines"][-1] <= (
            call.end_lineno or 0
        )
        if last in ("min", "minimum") and ((names and names <= used) or direct):
            return _turn(module, call)
    return None


def _written(facts: Facts, module: Module) -> Change | None:
    statement = statement_at(module, facts)
    if statement is None:
        return None
    minus = _minuses(statement)
    if len(minus) == 1:
        return module, statement, replaced(module, minus[0], f"({module.segment(minus[0].operand)})")
    names = {t.id for t in getattr(statement, "targets", []) if isinstance(t, ast.Name)}
    around = _minuses(module.function(statement) or module.tree)
    later = [n for n in around if isinstance(n.operand, ast.Name) and n.operand.id in names]
    if len(later) == 1:
        return module, later[0], replaced(module, later[0], module.segment(later[0].operand))
    value = getattr(statement, "value", None)
    if facts["kind"] == "likelihood" and isinstance(value, ast.expr) and not minus:
        if isinstance(value, ast.BinOp):
            return module, statement, replaced(module, value, f"-({module.segment(value)})")
        return module, statement, inserted_before(module, value, "-")
    return None


def _minuses(scope: ast.AST) -> list[ast.UnaryOp]:
    found = [n for n in ast.walk(scope) if isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.USub)]
    return [n for n in found if not isinstance(n.operand, ast.Constant)]
