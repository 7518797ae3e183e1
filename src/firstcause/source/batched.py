"""A function that is called for one row after the other, called once for all rows; None for another form."""

from __future__ import annotations

import ast
import copy

JOINS = {"stack", "cat", "concat", "vstack"}


def batched(statement: ast.stmt) -> str | None:
    """The text that takes the place of a loop that appends ``f(x)``, or of a statement that stacks a list of them."""
    if isinstance(statement, ast.For):
        return _of_loop(statement)
    whole = copy.deepcopy(statement)
    for node in ast.walk(whole):
        for field, value in ast.iter_fields(node):
            made = _of_join(value) if isinstance(value, ast.Call) else None
            if made is not None:
                setattr(node, field, made)
                return ast.unparse(ast.fix_missing_locations(whole))
    return None


def _of_loop(loop: ast.For) -> str | None:
    last = loop.body[0] if len(loop.body) == 1 and not loop.orelse else None
    call = last.value if isinstance(last, ast.Expr) else None
    if (
        not isinstance(call, ast.Call)
        or not isinstance(call.func, ast.Attribute)
        or call.func.attr != "append"
    ):
        return None
    made = _called(call.args[0], loop.target, loop.iter, keeps=False) if len(call.args) == 1 else None
    return f"{ast.unparse(call.func.value)}.extend({ast.unparse(made)})" if made is not None else None


def _of_join(call: ast.Call) -> ast.expr | None:
    """``torch.stack([f(x) for x in xs])`` is ``f(xs)``, and so is ``torch.cat([f(x[None]) for x in xs])``."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    listed = call.args[0] if len(call.args) == 1 and not call.keywords else None
    if name not in JOINS or not isinstance(listed, (ast.ListComp, ast.GeneratorExp)):
        return None
    part = listed.generators[0]
    if len(listed.generators) > 1 or part.ifs:
        return None
    return _called(listed.elt, part.target, part.iter, keeps=name != "stack")


def _called(call: ast.expr, target: ast.expr, over: ast.expr, keeps: bool) -> ast.expr | None:
    """The call for all rows; ``keeps`` where each call is given a row with its axis."""
    if (
        not isinstance(call, ast.Call)
        or len(call.args) != 1
        or call.keywords
        or not isinstance(target, ast.Name)
    ):
        return None
    row, rows = target.id, _measured(over)
    if rows is not None:
        text = ast.unparse(rows)
        one, with_axis = [f"{text}[{row}]"], [f"{text}[{row}:{row} + 1]", f"{text}[[{row}]]"]
    elif isinstance(over, (ast.Name, ast.Attribute)):
        rows, one, with_axis = over, [row], [f"{row}[None]", f"{row}.unsqueeze(0)"]
    else:
        return None
    if ast.unparse(call.args[0]) not in (with_axis if keeps else one):
        return None
    return ast.Call(call.func, [rows], [])


def _measured(over: ast.expr) -> ast.expr | None:
    """The ``xs`` of ``range(len(xs))``."""
    for name in ("range", "len"):
        if not isinstance(over, ast.Call) or ast.unparse(over.func) != name or over.keywords:
            return None
        if len(over.args) != 1:
            return None
        over = over.args[0]
    return over
