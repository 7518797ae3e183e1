"""Constants meant to keep a value off zero or one that round away in the type in which they are used."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from firstcause.fix.precision import near_one, rounded, vanishes
from firstcause.source import Origin, Project
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value
from firstcause.source.values import number

# Expressions looked at upstream of a failing operation.
MAX_EXPRESSIONS = 80
NUMERIC = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Name, ast.Attribute, ast.Call)


@dataclass(frozen=True, eq=False)
class Vanished:
    """An expression whose value rounds to 0 or 1, where it is used, and the literal to change."""

    used: Value
    number: float
    stored: float
    literal: Origin
    replacement: str


def vanished(project: Project, value: Value, dtype: str) -> list[Vanished]:
    """The constants upstream of an expression that the type rounds to 0 or 1, nearest first, each literal once."""
    waiting, seen = [value], set[int]()
    found: dict[int, Vanished] = {}
    while waiting and len(seen) < MAX_EXPRESSIONS:
        current = waiting.pop(0)
        if id(current.node) in seen:
            continue
        seen.add(id(current.node))
        constant = number(project, current) if isinstance(current.node, NUMERIC) else None
        if constant is not None:
            lost = _lost(project, current, float(constant), dtype)
            if lost is not None:
                found.setdefault(id(lost.literal.node), lost)
            continue
        waiting += _upstream(project, current)
    return list(found.values())


def _upstream(project: Project, value: Value) -> list[Value]:
    """What an expression is made of: its parts, or what computes the value that it stands for."""
    node = value.node
    if isinstance(node, (ast.Name, ast.Attribute)):
        return [
            o.value
            for o in new_walk(project).origins(value)
            if o.value is not None and o.value.node is not node
        ]
    if isinstance(node, ast.Call):
        origins = [o for o in new_walk(project).origins(value) if o.node is not node and o.value is not None]
        if origins:
            return [o.value for o in origins if o.value is not None]
        receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return [value.at(part) for part in (*receiver, *node.args, *(k.value for k in node.keywords))]
    return [value.at(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]


def _lost(project: Project, used: Value, constant: float, dtype: str) -> Vanished | None:
    if not vanishes(constant, dtype):
        return None
    small = [(o, v) for o, v in literals(project, used) if 0 < abs(v) < 0.01 or 0.99 < abs(v) < 1]
    if len({id(o.node) for o, _ in small}) != 1:
        return None
    literal, written = small[0]
    stored = rounded(constant, dtype)
    smallest = near_one(dtype) if stored else {"float16": "1e-4"}.get(dtype, "1e-12")
    replacement = smallest if abs(written) < 0.5 else repr(round(1 - float(smallest), 12))
    return Vanished(used, constant, stored, literal, replacement)


def literals(project: Project, value: Value) -> list[tuple[Origin, float]]:
    """The literals that a numeric expression is computed from."""
    node = value.node
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        parts = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
        return [found for part in parts for found in literals(project, value.at(part))]
    found = []
    for origin in new_walk(project).origins(value):
        if isinstance(origin.node, ast.Constant) and isinstance(origin.node.value, (int, float)):
            found.append((origin, float(origin.node.value)))
        elif origin.value is not None and origin.value.node is not node:
            found += literals(project, origin.value)
    return found
