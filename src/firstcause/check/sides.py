"""Which ranks a test lets through: one of them, or the rest; and whether it only asks if there are several at all."""

from __future__ import annotations

import ast
from typing import Literal

from firstcause.catalog.toml import check_table
from firstcause.check.code import Call, Code
from firstcause.source.callsites import last_name
from firstcause.source.module import Module

Side = Literal["one", "rest"]

_WORDS = check_table("ranks")
RANKS = frozenset(_WORDS["rank"].split())
MAINS = frozenset(_WORDS["main"].split())
SEVERAL = frozenset(_WORDS["several"].split())
# What the names above are asked of.
_OWNERS = frozenset(_WORDS["owner"].split())
# Of the environment, as a program writes them.
_VARIABLES = ("'RANK'", "'LOCAL_RANK'")
HOPS = 2


def side(code: Code, module: Module, test: ast.expr, hops: int = HOPS) -> Side | None:
    """The ranks for which a test holds; None where it does not depend on the rank, or not surely."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        if _is_rank(code, module, test.operand, hops):
            return "one"
        return other(side(code, module, test.operand, hops))
    if isinstance(test, ast.BoolOp):
        return _of_several(code, module, test, hops)
    if isinstance(test, ast.Compare):
        return _compared(code, module, test, hops)
    if _word(test) in MAINS:
        return "one"
    if _is_rank(code, module, test, 0) and isinstance(test, (ast.Name, ast.Attribute)):
        return "rest"
    if isinstance(test, ast.Call) and hops:
        return _returned(code, module, test, hops - 1)
    if isinstance(test, ast.Name) and hops:
        found = [(o.module, o.node) for o in code.origins(module, test)]
        sides = {side(code, m, n, hops - 1) if isinstance(n, ast.expr) else None for m, n in found}
        return sides.pop() if len(sides) == 1 else None
    return None


def _returned(code: Code, module: Module, test: ast.Call, hops: int) -> Side | None:
    """What a function of the program's own says, where it only gives back a test."""
    callees = code.callees_of(Call(code, module, test, ""))
    bodies = [
        n
        for d in callees
        if isinstance(d.node, ast.FunctionDef)
        for n in d.node.body
        if not isinstance(n, ast.Expr)
    ]
    if (
        len(callees) != 1
        or len(bodies) != 1
        or not isinstance(bodies[0], ast.Return)
        or bodies[0].value is None
    ):
        return None
    return side(code, callees[0].module, bodies[0].value, hops)


def other(one: Side | None) -> Side | None:
    """The ranks that are left."""
    return None if one is None else "rest" if one == "one" else "one"


def asks_for_several(test: ast.AST) -> bool:
    """Whether a test asks of nothing but whether there are several ranks, or whether they are there yet."""
    names = {
        n.id if isinstance(n, ast.Name) else n.attr
        for n in ast.walk(test)
        if isinstance(n, (ast.Name, ast.Attribute))
    }
    return bool(names & SEVERAL) and names <= SEVERAL | _OWNERS


def is_alone(test: ast.AST) -> bool:
    """Whether a test holds where there is one rank only: ``world_size == 1``, ``not dist.is_initialized()``."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return asks_for_several(test.operand) and not is_alone(test.operand)
    if isinstance(test, ast.BoolOp):
        return any(is_alone(v) for v in test.values)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.comparators[0], ast.Constant):
        op, bound = test.ops[0], test.comparators[0].value
        one = isinstance(op, (ast.Eq, ast.LtE)) and bound in (1, False)
        return _word(test.left) in SEVERAL and (one or (isinstance(op, ast.Lt) and bound == 2))
    # The rank of a run that was started without ranks.
    return isinstance(test, ast.Compare) and ast.unparse(test).endswith("rank == -1")


def _of_several(code: Code, module: Module, test: ast.BoolOp, hops: int) -> Side | None:
    """``rank == 0 and epoch % 5 == 0`` is of one rank; so is ``not distributed or rank == 0`` where there are several."""
    if isinstance(test.op, ast.And):
        sides = {side(code, module, v, hops) for v in test.values} - {None}
        return sides.pop() if len(sides) == 1 and not any(is_alone(v) for v in test.values) else None
    sides = {side(code, module, v, hops) for v in test.values if not is_alone(v)}
    return sides.pop() if len(sides) == 1 else None


def _compared(code: Code, module: Module, test: ast.Compare, hops: int) -> Side | None:
    if len(test.ops) != 1:
        return None
    left, op, right = test.left, test.ops[0], test.comparators[0]
    if isinstance(left, ast.Constant) and isinstance(op, (ast.Eq, ast.NotEq)):
        left, right = right, left
    if not _is_rank(code, module, left, hops) or not _is_number(right):
        return None
    if isinstance(op, (ast.Eq, ast.In)):
        return "one"
    if isinstance(op, (ast.NotEq, ast.NotIn)):
        return "rest"
    if isinstance(op, (ast.Gt, ast.GtE)):
        return "rest" if isinstance(op, ast.Gt) or ast.unparse(right) != "0" else None
    return "one" if isinstance(op, (ast.Lt, ast.LtE)) and ast.unparse(right) != "0" else None


def _is_number(node: ast.expr) -> bool:
    """A rank that is written down, or several: 0, [-1, 0]; -1 alone is none."""
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return bool(node.elts) and all(isinstance(e, (ast.Constant, ast.UnaryOp)) for e in node.elts)
    return isinstance(node, ast.Constant) and type(node.value) is int


def _is_rank(code: Code, module: Module, node: ast.expr, hops: int) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "int" and node.args:
        return _is_rank(code, module, node.args[0], hops)
    if isinstance(node, (ast.Call, ast.Subscript)) and any(v in ast.unparse(node) for v in _VARIABLES):
        return True
    if _word(node) in RANKS:
        return True
    if isinstance(node, ast.Name) and hops:
        found = [(o.module, o.node) for o in code.origins(module, node)]
        return bool(found) and all(isinstance(n, ast.Call) and _is_rank(code, m, n, 0) for m, n in found)
    return False


def _word(node: ast.AST) -> str:
    """The last name of what is asked: a name, an attribute, or what is called without arguments to speak of."""
    return last_name(node.func if isinstance(node, ast.Call) else node)
