"""Numbers of steps that a program computes from the length of its data, and what else they are computed from."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from firstcause.check.code import Code
from firstcause.source.callsites import last_name
from firstcause.source.frames import Value
from firstcause.source.module import Module

ROUNDED = frozenset({"int", "ceil", "floor", "round", "max", "min", "abs"})
ROWS = frozenset({"num_rows", "n_rows", "nrows"})
HOPS = 6


@dataclass
class Parts:
    """What a number is computed from: its factors, whether data's length is one, and all names and nodes on the way."""

    known: bool = True
    of_data: bool = False
    factors: list[object] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    nodes: set[ast.AST] = field(default_factory=set)


def parts_of_steps(code: Code, module: Module, node: ast.expr) -> Parts:
    """Follow a number through names to what it is computed from; ``known`` is False where something is not said."""
    parts = Parts()
    _follow(code, Value(module, node), parts, above=True, hops=HOPS)
    return parts


def _follow(code: Code, value: Value, parts: Parts, above: bool, hops: int) -> None:
    """``above``: the number grows with this; what it is divided by may be anything."""
    node = value.node
    parts.nodes.add(node)
    if name := last_name(node):
        parts.names.add(name)
    if isinstance(node, ast.Constant):
        if above:
            parts.factors.append(node.value)
    elif isinstance(node, ast.BinOp):
        divides = isinstance(node.op, (ast.Div, ast.FloorDiv))
        if not divides and not isinstance(node.op, (ast.Mult, ast.Add, ast.Sub)):
            parts.known = False
        _follow(code, value.at(node.left), parts, above, hops)
        _follow(code, value.at(node.right), parts, above and not divides, hops)
    elif isinstance(node, ast.UnaryOp):
        _follow(code, value.at(node.operand), parts, above, hops)
    elif isinstance(node, ast.Call) and last_name(node.func) in ROUNDED and node.args:
        for argument in node.args:
            _follow(code, value.at(argument), parts, above, hops)
    elif _is_length(node):
        parts.of_data = parts.of_data or above
        parts.names |= {n for inner in ast.walk(node) if (n := last_name(inner))}
    else:
        _through(code, value, parts, above, hops)


def _through(code: Code, value: Value, parts: Parts, above: bool, hops: int) -> None:
    origins = code.origins(value.module, value.node)
    expressions = [(o.module, o.node) for o in origins if isinstance(o.node, ast.expr) and o.exact]
    for origin in origins:
        parts.names |= {n for hop in origin.hops if (n := last_name(hop.node))}
    if not hops or len(expressions) != 1 or len(origins) != 1 or expressions[0][1] is value.node:
        parts.known = parts.known and not above
        return
    module, node = expressions[0]
    _follow(code, Value(module, node), parts, above, hops - 1)


def _is_length(node: ast.expr) -> bool:
    """``len(data)``, ``data.num_rows``, ``x.shape[0]``."""
    if isinstance(node, ast.Call):
        return last_name(node.func) == "len" and len(node.args) == 1
    if isinstance(node, ast.Subscript):
        return last_name(node.value) == "shape"
    return isinstance(node, ast.Attribute) and node.attr in ROWS
