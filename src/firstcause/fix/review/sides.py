"""Both sides of a patch as syntax trees: what is in the new text and was not in the old one, and the reverse."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)


@dataclass(frozen=True)
class Change:
    """One file of a patch: its path, the text before and after (empty for a file that is added or removed)."""

    path: str
    before: str
    after: str

    @cached_property
    def old(self) -> ast.Module:
        """The tree of the old text; an empty one where it is no Python."""
        return _tree(self.path, self.before)

    @cached_property
    def new(self) -> ast.Module:
        """The tree of the new text; an empty one where it is no Python."""
        return _tree(self.path, self.after)

    def added(self, *kinds: type[Node]) -> Iterator[Node]:
        """The nodes of some kinds that the new side has more often than the old one: moved code is none."""
        new, old = self._touched(self.new, 2, kinds), self._touched(self.old, 0, kinds)
        yield from _more(new, old)

    def removed(self, *kinds: type[Node]) -> Iterator[Node]:
        """The nodes of some kinds that the old side has more often."""
        new, old = self._touched(self.new, 2, kinds), self._touched(self.old, 0, kinds)
        yield from _more(old, new)

    def _touched(self, tree: ast.Module, side: int, kinds: tuple[type[Node], ...]) -> list[Node]:
        """The nodes that a changed stretch touches; what stands elsewhere is on both sides."""
        ranges = [stretch[side : side + 2] for stretch in self._stretches]
        return [node for node in ast.walk(tree) if isinstance(node, kinds) and _meets(node, ranges)]

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """First and last line of each changed stretch of the old text; an insertion stands at the line before it."""
        return tuple((a + 1, b) if b > a else (a, a) for a, b, _, _ in self._stretches)

    @cached_property
    def new_spans(self) -> tuple[tuple[int, int], ...]:
        """First and last line of each changed stretch of the new text; a removal stands at the line before it."""
        return tuple((c + 1, d) if d > c else (c, c) for _, _, c, d in self._stretches)

    @cached_property
    def _stretches(self) -> list[tuple[int, int, int, int]]:
        matcher = SequenceMatcher(None, self.before.split("\n"), self.after.split("\n"), autojunk=False)
        return [(a, b, c, d) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]

    @cached_property
    def code_changed(self) -> bool:
        """Whether anything but comments and layout differs, where both sides are Python."""
        if not self.path.endswith(".py"):
            return self.before != self.after
        if (self.before and not self.old.body) or (self.after and not self.new.body):
            return self.before != self.after
        return ast.dump(self.old) != ast.dump(self.new)


def name_of(node: ast.AST) -> str:
    """The last name of what is called or named: ``nan_to_num`` of ``torch.nan_to_num(x)``."""
    if isinstance(node, ast.Call):
        return name_of(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def number_of(node: ast.AST | None) -> float | None:
    """The number that is written there, negative and divided ones included."""
    if (
        isinstance(node, ast.Constant)
        and isinstance(node.value, (int, float))
        and not isinstance(node.value, bool)
    ):
        return float(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = number_of(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.BinOp):
        left, right = number_of(node.left), number_of(node.right)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Div) and right:
            return left / right
        if isinstance(node.op, ast.Pow) and abs(right) < 64 and (left or right > 0):
            return float(left**right) if left > 0 or right == int(right) else None
    return None


def settings(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Every name that is given a value: keywords of calls, assignments, defaults of parameters."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg:
            yield node.arg, node.value
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            yield from _assigned(node.targets[0], node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield name_of(node.target), node.value
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            positional = [*node.args.posonlyargs, *node.args.args]
            yield from zip(
                (a.arg for a in positional[len(positional) - len(node.args.defaults) :]),
                node.args.defaults,
                strict=True,
            )
            for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
                if default is not None:
                    yield argument.arg, default
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value, value


def changed_numbers(change: Change) -> Iterator[tuple[str, float, float, ast.expr]]:
    """Names whose written number differs between the sides: name, old number, new number, the new expression."""
    old, new = _numbers(change.old), _numbers(change.new)
    for name, values in new.items():
        before = [v for v, _ in old.get(name, [])]
        fresh = [(v, node) for v, node in values if v not in before]
        gone = [v for v in before if v not in [w for w, _ in values]]
        for (value, node), earlier in zip(fresh, gone, strict=False):
            yield name, earlier, value, node


def _numbers(tree: ast.AST) -> dict[str, list[tuple[float, ast.expr]]]:
    found: dict[str, list[tuple[float, ast.expr]]] = {}
    for name, value in settings(tree):
        number = number_of(value)
        if number is not None:
            found.setdefault(name, []).append((number, value))
    return found


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for one, own in zip(target.elts, value.elts, strict=True):
            yield name_of(one), own
    else:
        yield name_of(target), value


def _meets(node: ast.AST, ranges: list[tuple[int, ...]]) -> bool:
    """Whether a node holds a line of one of the ranges, or the gap where one is empty."""
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0) or 0
    return any(first <= max(high, low) and last >= low + 1 for low, high in ranges if last)


def _more(mine: list[Node], other: list[Node]) -> Iterator[Node]:
    left = Counter(map(ast.dump, other))
    for node in mine:
        key = ast.dump(node)
        if left[key] > 0:
            left[key] -= 1
        else:
            yield node


def _tree(path: str, text: str) -> ast.Module:
    if path.endswith((".py", ".pyi")):
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError):
            # Another language, or a broken side: its lines are still looked at.
            return ast.Module([], [])
    return ast.Module([], [])
