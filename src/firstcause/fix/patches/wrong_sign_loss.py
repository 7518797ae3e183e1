"""A term of the loss with the wrong sign: its minus goes, or comes.

Facts:

- ``file``, ``line``: where the term is made; ``lines`` all such lines of its file.
- ``kind``: ``error``, ``likelihood``, ``action``, or ``margin`` where two values are to be exchanged.
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
    what = f"Turn the sign at {site}: each step makes worse what it should make better."
    if facts["kind"] == "margin":
        what = f"Exchange the two values that are compared at {site}: the loss never leaves its margin."
    return draft(
        project,
        root,
        CAUSE,
        [edit],
        what,
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
    if facts["kind"] == "margin":
        return _exchanged(facts, module)
    if facts["kind"] == "action":
        return _smaller(facts, module) if len(facts["lines"]) > 1 else _product(facts, module)
    return _written(facts, module)


def _exchanged(facts: Facts, module: Module) -> Change | None:
    """The two operands of the one difference on the line, or the two arguments that the loss compares, exchanged."""
    nodes = module.nodes_on(int(facts["line"]))
    for call in (n for n in nodes if isinstance(n, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        first = {"triplet_margin_loss": 1, "margin_ranking_loss": 0}.get(name)
        if first is not None and len(call.args) > first + 1:
            one, other = call.args[first : first + 2]
            texts = {one: module.segment(other), other: module.segment(one)}
            return module, call, _texts_put(module, call, texts)
    chains = [
        n for n in nodes if isinstance(n, ast.BinOp) and _is_sum(n) and not _is_sum(module.parents.get(n))
    ]
    for chain in chains:
        values = [(sign, n) for sign, n in _terms(chain, 1) if not _is_number(module, n, facts)]
        if [sign for sign, _ in values] in ([1, -1], [-1, 1]):
            (_, one), (_, other) = values
            texts = {one: module.segment(other), other: module.segment(one)}
            return module, chain, _texts_put(module, chain, texts)
    return None


def _is_sum(node: ast.AST | None) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub)


def _terms(node: ast.expr, sign: int) -> list[tuple[int, ast.expr]]:
    """The terms of a chain of sums and differences, with their signs."""
    if not isinstance(node, ast.BinOp) or not _is_sum(node):
        return [(sign, node)]
    after = -sign if isinstance(node.op, ast.Sub) else sign
    return [*_terms(node.left, sign), *_terms(node.right, after)]


def _is_number(module: Module, node: ast.AST, facts: Facts) -> bool:
    return isinstance(node, ast.Constant) or module.segment(node) in (facts.get("numbers") or ())


def _texts_put(module: Module, chain: ast.AST, texts: dict[ast.expr, str]) -> Edit:
    """The chain with some of its terms, in the order of the text, written otherwise."""
    text, base = module.segment(chain), module.span(chain)[0]
    for node, new in sorted(texts.items(), key=lambda pair: -module.span(pair[0])[0]):
        start, end = module.span(node)
        text = text[: start - base] + new + text[end - base :]
    return replaced(module, chain, text)


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
