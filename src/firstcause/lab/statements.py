"""The statement that a line of the program belongs to: what it writes, and what it divides by."""

from __future__ import annotations

import ast
from typing import Any

DIVIDING = frozenset({"divide", "true_divide", "div", "div_"})
INVERTING = frozenset({"rsqrt", "rsqrt_", "reciprocal", "reciprocal_"})
POWERS = frozenset({"pow", "pow_", "power", "float_power"})
LIBRARIES = frozenset({"torch", "np", "numpy", "math"})
# Calls that give the same again and change nothing, whose value may be asked for once more.
SPREADS = frozenset({"std", "var", "ptp", "norm", "nanstd"})
REDUCTIONS = frozenset(
    {"sum", "mean", "nanmean", "median", "max", "min", "amax", "amin", "maximum", "count_nonzero", "len"}
)
FORMS = frozenset(
    {"abs", "clip", "clamp", "sqrt", "float", "reshape", "view", "unsqueeze", "to_numpy", "numpy"}
)
PURE = SPREADS | REDUCTIONS | FORMS


class Statements:
    """Statements by file and line; each file is parsed once."""

    def __init__(self) -> None:
        self._files: dict[str, dict[int, ast.stmt]] = {}

    def at(self, path: str, line: int) -> ast.stmt | None:
        """The innermost statement on a line; of a compound one, its head alone."""
        if path not in self._files:
            self._files[path] = _read(path)
        return self._files[path].get(line)

    def written(self, statement: ast.stmt | None) -> set[str]:
        """Names whose object a statement may change in place: ``a[i] = …``, ``a += …``, ``a.fill(…)``, ``f(a)``."""
        found: set[str] = set()
        for node in (
            ast.walk(statement) if isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr)) else ()
        ):
            if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
                found |= _base(node)
            elif isinstance(node, ast.AugAssign):
                found |= _base(node.target)
            elif isinstance(node, ast.Call) and isinstance(statement, ast.Expr):
                found |= _base(node.func)
                found |= {a.id for a in node.args if isinstance(a, ast.Name)}
        return found


def denominators(
    statement: ast.stmt | None, space: dict[str, Any], before: dict[str, Any]
) -> list[dict[str, Any]]:
    """What a statement divided by, computed once more from the names as they were: text, count of zeros, elements."""
    found = []
    for node in ast.walk(statement) if statement is not None else ():
        divisor = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod)):
            divisor = node.right
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, (ast.Div, ast.FloorDiv)):
            divisor = node.value
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            divisor = node.left if _is_negative(node.right) else None
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            divisor = _divisor_of_call(node, node.func)
        if divisor is not None and not isinstance(divisor, ast.Constant) and _is_pure(divisor):
            found += _zeros(divisor, space, before)
    return found


def _divisor_of_call(call: ast.Call, function: ast.Attribute) -> ast.expr | None:
    """What a call of a library's function, or of a method, divides by; None where it does not divide."""
    if function.attr in DIVIDING:
        return call.args[-1] if call.args else None
    is_method = not (isinstance(function.value, ast.Name) and function.value.id in LIBRARIES)
    given = [function.value, *call.args] if is_method else call.args
    if function.attr in INVERTING:
        return given[0] if given else None
    if function.attr in POWERS and len(given) == 2:
        return given[0] if _is_negative(given[1]) else None
    return None


def _is_negative(node: ast.expr) -> bool:
    """Whether an exponent is written as a number below 0."""
    is_minus = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    return is_minus and isinstance(node.operand, ast.Constant)  # type: ignore[attr-defined]


def _zeros(divisor: ast.expr, space: dict[str, Any], before: dict[str, Any]) -> list[dict[str, Any]]:
    import torch

    try:
        code = compile(ast.Expression(divisor), "<divisor>", "eval")
        # The program's own expression, in a process that can touch nothing.
        value = eval(code, {**space, **before})
        tensor = torch.as_tensor(getattr(value, "to_numpy", lambda: value)())
    except Exception:  # noqa: BLE001 - whatever the program's expression raises the second time, it tells nothing
        return []
    zeros = int((tensor == 0).sum())
    if not zeros:
        return []
    found = {"text": ast.unparse(divisor), "zeros": zeros, "elements": tensor.numel()}
    # A count, of which less than 1 is none at all.
    counts = bool((tensor >= 0).all()) and bool((tensor == tensor.round()).all())
    return [found | ({"counts": True} if counts and float(tensor.max()) >= 1 else {})]


def _is_pure(node: ast.expr) -> bool:
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            name = part.func.attr if isinstance(part.func, ast.Attribute) else getattr(part.func, "id", "")
            if name not in PURE:
                return False
        elif isinstance(part, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda)):
            return False
    return True


def _base(node: ast.expr) -> set[str]:
    while isinstance(node, (ast.Subscript, ast.Attribute, ast.Starred)):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def _read(path: str) -> dict[int, ast.stmt]:
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read(), path)
    except (OSError, SyntaxError, ValueError):
        return {}
    found: dict[int, ast.stmt] = {}
    for node in ast.walk(tree):
        # Outer statements come first, so that inner ones take their lines over.
        if isinstance(node, ast.stmt):
            is_block = isinstance(getattr(node, "body", None), list)
            last = node.lineno if is_block else node.end_lineno or node.lineno
            found.update((line, node) for line in range(node.lineno, last + 1))
    return {line: node for line, node in found.items() if not isinstance(getattr(node, "body", None), list)}
