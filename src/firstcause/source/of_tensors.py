"""An expression over single numbers, written for tensors: ``max(float(v), -1.0)`` is ``v.clamp(min=-1.0)``."""

from __future__ import annotations

import ast

# Functions of ``math`` that torch has under the same name.
_MATH = frozenset(
    {"sqrt", "exp", "log", "log2", "log10", "log1p", "expm1", "sin", "cos", "tan", "tanh", "sinh", "cosh", "floor", "ceil"}
    | {"atan2", "pow", "hypot", "erf"}
)  # fmt: skip
_ENDS = {"max": ("min", "maximum"), "min": ("max", "minimum")}


class OfTensors(ast.NodeTransformer):
    """Replaces what takes one number by what takes a tensor; anything else stays."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute):
            return _of_method(node, node.func)
        name = node.func.id if isinstance(node.func, ast.Name) and not node.keywords else ""
        if name == "float" and len(node.args) == 1 and not isinstance(node.args[0], ast.Constant):
            return node.args[0]
        if name in _ENDS and len(node.args) == 2:
            end, both = _ENDS[name]
            first, second = sorted(node.args, key=_is_number)
            if _is_number(first):
                return node
            if _is_number(second):
                clamp = ast.Attribute(first, "clamp", ast.Load())
                return ast.Call(clamp, [], [ast.keyword(end, second)])
            return _torch(both, [first, second])
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        return _torch("where", [_truth(node.test), node.body, node.orelse])


def _of_method(node: ast.Call, func: ast.Attribute) -> ast.AST:
    if func.attr == "item" and not node.args:
        return func.value
    of_math = isinstance(func.value, ast.Name) and func.value.id == "math"
    return _torch(func.attr, node.args) if of_math and func.attr in _MATH else node


def _truth(test: ast.expr) -> ast.expr:
    """A condition on one number as one on each element."""
    if isinstance(test, ast.BoolOp):
        op = ast.BitAnd() if isinstance(test.op, ast.And) else ast.BitOr()
        return _joined([_truth(v) for v in test.values], op)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return ast.UnaryOp(ast.Invert(), _truth(test.operand))
    if isinstance(test, ast.Compare) and len(test.ops) > 1:
        sides = [test.left, *test.comparators]
        pairs = [ast.Compare(a, [op], [b]) for a, op, b in zip(sides, test.ops, sides[1:], strict=False)]
        return _joined(list(pairs), ast.BitAnd())
    return test


def _joined(parts: list[ast.expr], op: ast.operator) -> ast.expr:
    whole = parts[0]
    for part in parts[1:]:
        whole = ast.BinOp(whole, op, part)
    return whole


def _torch(name: str, arguments: list[ast.expr]) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name("torch", ast.Load()), name, ast.Load()), arguments, [])


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))
