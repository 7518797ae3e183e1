"""An exception that no call of torch's raised: the operation of the program's statement that did, with its operands."""

from __future__ import annotations

import ast
import operator
from types import FrameType, TracebackType
from typing import Any

import torch

from firstcause.lab import places
from firstcause.minimize.failure import Failure, raised
from firstcause.minimize.program import Call, Leaf, Program, Ref

OPERATIONS: dict[type[ast.AST], Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.MatMult: operator.matmul, ast.Pow: operator.pow, ast.Mod: operator.mod, ast.FloorDiv: operator.floordiv,
}  # fmt: skip
SIMPLE = (int, float, bool, str, type(None))


def statement_of(error: BaseException) -> tuple[Program, Failure] | None:
    """One operation on arrays and numbers that raises ``error``; nothing where it is another kind of statement."""
    frame, line = _innermost(error.__traceback__)
    statement = _statement(frame, line) if frame is not None else None
    if frame is None or statement is None:
        return None
    found = _operation(frame, statement, error)
    if found is None:
        return None
    function, operands = found
    leaves: dict[int, Leaf] = {}
    args = []
    for value in operands:
        numbered = _operand(value, leaves)
        if numbered is None:
            return None
        args.append(numbered[0])
    name = f"{function.__module__}.{function.__name__}".replace("_operator", "operator")
    return Program(leaves, (Call(function, name, tuple(args), {}, ()),)), raised(name, error)


def _innermost(trace: TracebackType | None) -> tuple[FrameType | None, int]:
    found: tuple[FrameType | None, int] = (None, 0)
    while trace is not None:
        if places.is_user_file(trace.tb_frame.f_code.co_filename):
            found = (trace.tb_frame, trace.tb_lineno)
        trace = trace.tb_next
    return found


def _statement(frame: FrameType, line: int) -> ast.stmt | None:
    try:
        with open(frame.f_code.co_filename, encoding="utf-8") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError):
        return None
    over = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and n.lineno <= line <= (n.end_lineno or 0)]
    return min(over, key=lambda n: (n.end_lineno or 0) - n.lineno, default=None)


def _operation(frame: FrameType, statement: ast.stmt, error: BaseException) -> tuple[Any, list[Any]] | None:
    def value(node: ast.expr) -> Any:
        code = compile(ast.fix_missing_locations(ast.Expression(node)), "<operand>", "eval")
        return eval(code, frame.f_globals, dict(frame.f_locals))

    for node in reversed(
        [n for n in ast.walk(statement) if isinstance(n, (ast.BinOp, ast.Subscript, ast.Assign))]
    ):
        try:
            if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
                found = (OPERATIONS[type(node.op)], [value(node.left), value(node.right)])
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                found = (operator.getitem, [value(node.value), value(node.slice)])
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
                target = node.targets[0]
                found = (operator.setitem, [value(target.value), value(target.slice), value(node.value)])
            else:
                continue
        except Exception:  # noqa: BLE001, S112 - an operand fails: the operation inside of it is looked at in its turn
            continue
        try:
            found[0](*found[1])
        except Exception as again:  # noqa: BLE001
            if raised("", again) == raised("", error):
                return found
    return None


def _operand(value: Any, leaves: dict[int, Leaf]) -> tuple[Any] | None:
    """A number or a text as it is, an array as a leaf; nothing for other objects."""
    if isinstance(value, SIMPLE):
        return (value,)
    if isinstance(value, torch.Tensor):
        leaf = Leaf(value.detach().clone())
    else:
        try:
            leaf = Leaf(torch.as_tensor(value).clone(), array=True)
        except (TypeError, ValueError, RuntimeError):
            return None
    leaves[len(leaves) + 1] = leaf
    return (Ref(len(leaves)),)
