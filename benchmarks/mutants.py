"""The mutants of a module: each changes one operator, constant, condition, returned value or left-out statement."""

from __future__ import annotations

import ast
import copy
import functools
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
}


@dataclass(frozen=True)
class Mutant:
    """A place in a module, the change, and what became of it; ``id`` stays as long as the code around it does."""

    id: str
    module: str
    function: str
    line: int
    change: str
    outcome: str = ""
    by: str = ""
    seconds: float = 0.0


class Planned(NamedTuple):
    """A mutant, what makes its tree, and the lines of its statement; None where these run on import."""

    mutant: Mutant
    tree: Callable[[], ast.Module]
    lines: range | None


def mutants(path: Path) -> Iterator[Planned]:
    """Every mutant of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    order = {id(node): i for i, node in enumerate(ast.walk(tree))}
    within = dict(_within(tree))
    number: Counter[str] = Counter()
    for node, words, change in places(tree):
        function, outer, lines = within[id(node)]
        key = f"{path.stem} {ast.unparse(outer)} {words}"
        number[key] += 1
        name = hashlib.sha256(f"{key} {number[key]}".encode()).hexdigest()[:12]
        line = getattr(node, "lineno", lines.start)
        mutant = Mutant(name, path.stem, function, line, words)
        make = functools.partial(_changed, tree, order[id(node)], change)
        yield Planned(mutant, make, lines if function else None)


def places(tree: ast.Module) -> Iterator[tuple[ast.AST, str, Callable[[Any], None]]]:
    """Each node that can be changed, what the change is in words, and how to make it in a copy of the node."""
    skipped = {id(n) for f in ast.walk(tree) for part in _not_run(f) for n in ast.walk(part)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
            new = SWAPS[type(node.ops[0])]
            yield (
                node,
                f"{_name(node.ops[0])} -> {new.__name__} in {_words(node)}",
                lambda n, new=new: n.ops.__setitem__(0, new()),
            )
        elif isinstance(node, (ast.BoolOp, ast.BinOp)) and type(node.op) in SWAPS:
            new = SWAPS[type(node.op)]
            yield (
                node,
                f"{_name(node.op)} -> {new.__name__} in {_words(node)}",
                lambda n, new=new: setattr(n, "op", new()),
            )
        elif isinstance(node, (ast.If, ast.IfExp)):
            yield node, f"if {_words(node.test)} -> if not", _negate
        elif isinstance(node, ast.comprehension) and node.ifs:
            yield node, f"filter {_words(node.ifs[0])} left out", lambda n: n.ifs.clear()
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield node, f"{node.value} -> {not node.value}", lambda n: setattr(n, "value", not n.value)
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            yield node, f"{node.value} -> {node.value + 1}", lambda n: setattr(n, "value", n.value + 1)
        elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
            yield (
                node,
                f"return {_words(node.value)} -> None",
                lambda n: setattr(n, "value", ast.Constant(None)),
            )
        elif isinstance(node, (ast.Raise, ast.Expr)) and not isinstance(
            getattr(node, "value", None), ast.Constant
        ):
            yield node, f"{_words(node)} left out", _drop


def _not_run(node: ast.AST) -> Iterator[ast.AST]:
    """Annotations and what is checked by types alone."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from (*(a for a in ast.walk(node.args) if isinstance(a, ast.arg)), node.returns or ast.Pass())
    if isinstance(node, ast.AnnAssign):
        yield node.annotation
    if isinstance(node, ast.Assert):
        yield node
    if isinstance(node, ast.Assign) and any(
        getattr(t, "id", "") in ("__all__", "Outcome") for t in node.targets
    ):
        yield node


def _name(node: ast.AST) -> str:
    return type(node).__name__


def _words(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())[:70]


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _negate(node: Any) -> None:
    node.test = ast.UnaryOp(ast.Not(), node.test)


def _drop(node: Any) -> None:
    node.__class__ = ast.Pass


def _changed(tree: ast.Module, place: int, change: Callable[[Any], None]) -> ast.Module:
    changed = copy.deepcopy(tree)
    change(next(node for i, node in enumerate(ast.walk(changed)) if i == place))
    return ast.fix_missing_locations(changed)


def _within(
    node: ast.AST, function: str = "", outer: Any = None, lines: range = range(0)
) -> Iterator[tuple[int, tuple[str, Any, range]]]:
    """For each node its function, the outermost statement around it, and the lines of the innermost."""
    for child in ast.iter_child_nodes(node):
        own, around, there = function, outer or child, lines
        if isinstance(child, ast.stmt):
            body = getattr(child, "body", None)
            there = range(child.lineno, body[0].lineno if body else (child.end_lineno or child.lineno) + 1)
        if isinstance(child, ast.FunctionDef):
            # Its decorators and defaults belong to where it is defined.
            inner = f"{function}.{child.name}".lstrip(".")
            for part in (child.args, *child.decorator_list):
                yield from _within(ast.Expression(part), function, around, there)
            yield id(child), (function, around, there)
            for part in child.body:
                yield from _within(ast.Module([part], []), inner, around, there)
            continue
        if isinstance(child, ast.ClassDef):
            own = ""
        yield id(child), (own, around, there)
        yield from _within(child, own, around, there)
