"""Edits of one expression: replaced, followed by a method, added to, with the brackets that its place needs."""

from __future__ import annotations

import ast
import keyword
import tokenize
from bisect import bisect_left, bisect_right

from firstcause.fix.edits import Edit
from firstcause.source import Module

ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
# Expressions that bind less tightly than a sum.
LOOSE = (ast.IfExp, ast.Lambda, ast.BoolOp, ast.Compare, ast.NamedExpr, ast.Starred, ast.Yield, ast.YieldFrom)
LOOSE_OPERATORS = (ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor)
SKIPPED = (
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.COMMENT,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)


def replaced(module: Module, node: ast.AST, text: str) -> Edit:
    """An edit that puts another text in an expression's place."""
    return _edit(module, *module.span(node), text)


def called(module: Module, node: ast.expr, method: str) -> list[Edit]:
    """Edits after which a method call follows an expression: ``x`` becomes ``x.method``, ``a + b`` ``(a + b).method``."""
    start, end = module.span(node)
    grouped_end = _closing_bracket(module, start, end)
    if isinstance(node, ATOMS):
        return [_edit(module, end, end, method)]
    if grouped_end is not None:
        return [_edit(module, grouped_end, grouped_end, method)]
    return [_edit(module, start, start, "("), _edit(module, end, end, f"){method}")]


def atom(module: Module, node: ast.expr) -> str:
    """An expression's text, in brackets where an operator or a method after it would take only a part of it."""
    text = module.segment(node)
    return text if isinstance(node, (*ATOMS, ast.Constant)) else f"({text})"


def plus(module: Module, node: ast.expr, amount: int) -> list[Edit]:
    """Edits that add a whole number to an expression; a literal gets its new value."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(node.value, bool):
        return [replaced(module, node, like(module.segment(node), node.value + amount))]
    sign = f"{'+' if amount >= 0 else '-'} {abs(amount)}"
    return added(module, node, f" {sign}")


def added(module: Module, node: ast.expr, text: str) -> list[Edit]:
    """Edits after which ``text``, an operator of a sum and its operand, follows an expression."""
    start, end = module.span(node)
    grouped_end = _closing_bracket(module, start, end)
    is_loose = isinstance(node, LOOSE) or (
        isinstance(node, ast.BinOp) and isinstance(node.op, LOOSE_OPERATORS)
    )
    is_taken_first = _binds_tighter(module, node)
    if is_loose and grouped_end is not None and not is_taken_first:
        return [_edit(module, grouped_end, grouped_end, text)]
    if is_loose:
        return [_edit(module, start, start, "("), _edit(module, end, end, f"){text}")]
    if is_taken_first and grouped_end is None:
        return [_edit(module, start, start, "("), _edit(module, end, end, f"{text})")]
    return [_edit(module, end, end, text)]


def _binds_tighter(module: Module, node: ast.expr) -> bool:
    """Whether what stands around an expression takes it before a sum would: ``x.f()``, ``-x``, ``2 * x``, ``a - x``."""
    parent = module.parents.get(node)
    if isinstance(parent, (ast.Attribute, ast.UnaryOp, ast.Await, ast.Starred)):
        return not (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not))
    if isinstance(parent, ast.Subscript):
        return parent.value is node
    if isinstance(parent, ast.Call):
        return parent.func is node
    if isinstance(parent, ast.BinOp):
        is_sum = isinstance(parent.op, (ast.Add, ast.Sub, *LOOSE_OPERATORS))
        return not is_sum or (isinstance(parent.op, ast.Sub) and parent.right is node)
    return False


def inserted_before(module: Module, node: ast.AST, text: str) -> Edit:
    start = module.span(node)[0]
    return _edit(module, start, start, text)


def inserted_after(module: Module, node: ast.AST, text: str) -> Edit:
    """An edit that puts text after an expression and the brackets that only group it."""
    start, end = module.span(node)
    at = _closing_bracket(module, start, end) or end
    return _edit(module, at, at, text)


def added_keyword(module: Module, call: ast.Call, text: str) -> Edit:
    """An edit that gives a call one more keyword argument, after the last one; a trailing comma stays last."""
    arguments: list[ast.AST] = [*call.args, *call.keywords]
    if not arguments:
        end = module.span(call)[1] - 1
        return _edit(module, end, end, text)
    last = max(arguments, key=lambda a: module.span(a)[1])
    start, end = module.span(last)
    while (grouping := _grouping(module, start, end)) is not None:
        start, end = grouping
    return _edit(module, end, end, f", {text}")


def like(written: str, value: int) -> str:
    """A whole number written as another one is: with digit groups where that one has them."""
    return f"{value:_}" if "_" in written else str(value)


def _edit(module: Module, start: int, end: int, text: str) -> Edit:
    return Edit(module.path, module.position(start), module.position(end), text)


def _closing_bracket(module: Module, start: int, end: int) -> int | None:
    grouping = _grouping(module, start, end)
    return grouping[1] if grouping is not None else None


def _grouping(module: Module, start: int, end: int) -> tuple[int, int] | None:
    """The brackets around a range that only group it; None where there are none, or they are a call's."""
    tokens = [(_at(module, t.start), _at(module, t.end), t) for t in module.tokens if t.type not in SKIPPED]
    starts, ends = [t[0] for t in tokens], [t[1] for t in tokens]
    before, after = bisect_right(ends, start) - 1, bisect_left(starts, end)
    if (
        before < 0
        or after >= len(tokens)
        or tokens[before][2].string != "("
        or tokens[after][2].string != ")"
    ):
        return None
    if before > 0:
        opener = tokens[before - 1][2]
        is_word = opener.type == tokenize.NAME and not keyword.iskeyword(opener.string)
        if is_word or opener.string in (")", "]", "}") or opener.type in (tokenize.STRING, tokenize.NUMBER):
            return None
    return tokens[before][0], tokens[after][1]


def _at(module: Module, place: tuple[int, int]) -> int:
    line, column = place
    # Tokens count characters, ast counts bytes.
    return module.offset(line, 0) + column
