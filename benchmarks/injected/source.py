"""A file in which a fault is put: its tree, the change, and changes that several kinds share."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Edit:
    """One change of a file: ranges of lines and columns with what stands there instead."""

    line: int
    changes: tuple[tuple[tuple[int, int], tuple[int, int], str], ...]


@dataclass
class Source:
    """A file: its text, its tree, and the parents of its nodes."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {c: p for p in self.nodes for c in ast.iter_child_nodes(p)}

    @cached_property
    def called(self) -> list[tuple[str, ast.Call]]:
        return [(ast.unparse(n.func), n) for n in self.nodes if isinstance(n, ast.Call)]

    def calls(self, pattern: str) -> Iterator[ast.Call]:
        """The calls whose function, as it is written, matches."""
        for name, node in self.called:
            if re.fullmatch(pattern, name):
                yield node

    def statement(self, node: ast.AST) -> ast.stmt:
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def around(self, node: ast.AST, *kinds: type[ast.AST]) -> ast.AST | None:
        parent = self.parents.get(node)
        while parent is not None and not isinstance(parent, kinds):
            parent = self.parents.get(parent)
        return parent

    def in_loop(self, node: ast.AST) -> bool:
        return isinstance(self.around(node, ast.For, ast.While, ast.FunctionDef), (ast.For, ast.While))

    def segment(self, node: ast.AST) -> str:
        return ast.get_source_segment(self.text, node) or ast.unparse(node)

    def applied(self, edit: Edit) -> str:
        """The text with an edit; columns count bytes, as ``ast`` does."""
        raw = [line.encode() for line in self.lines]
        for start, end, new in sorted(edit.changes, reverse=True):
            head, tail = raw[start[0] - 1][: start[1]], raw[end[0] - 1][end[1] :]
            raw[start[0] - 1 : end[0]] = [head + new.encode() + tail]
        return b"\n".join(raw).decode()


@dataclass(frozen=True)
class Kind:
    """A kind of fault, the slugs of which one should be found, and every place where it can be put in."""

    name: str
    slugs: tuple[str, ...]
    places: Callable[[Source], Iterator[Edit]]


def span(node: ast.AST) -> tuple[tuple[int, int], tuple[int, int]]:
    assert isinstance(node, (ast.expr, ast.stmt, ast.keyword))
    return (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)


def replaced(node: ast.AST, new: str) -> Edit:
    start, end = span(node)
    return Edit(start[0], ((start, end, new),))


def removed(source: Source, pattern: str, where: Callable[[ast.Call], bool] = bool) -> Iterator[Edit]:
    """Statements that are one call and nothing else, each taken out; only where the file has one such call."""
    found = [c for c in source.calls(pattern) if isinstance(source.parents[c], ast.Expr) and where(c)]
    if len(found) == 1:
        yield replaced(source.parents[found[0]], "pass")


def renamed(pattern: str, old: str, new: str) -> Callable[[Source], Iterator[Edit]]:
    """A keyword of some calls written otherwise."""

    def places(source: Source) -> Iterator[Edit]:
        for call in source.calls(pattern):
            for keyword in call.keywords:
                if keyword.arg == old:
                    start = (keyword.lineno, keyword.col_offset)
                    yield Edit(start[0], ((start, (start[0], start[1] + len(old.encode())), new),))

    return places


def without_keyword(pattern: str, name: str) -> Callable[[Source], Iterator[Edit]]:
    def places(source: Source) -> Iterator[Edit]:
        for call in source.calls(pattern):
            kept = [source.segment(k) for k in call.keywords if k.arg != name]
            if len(kept) < len(call.keywords):
                inner = ", ".join([*map(source.segment, call.args), *kept])
                yield replaced(call, f"{source.segment(call.func)}({inner})")

    return places


def with_keyword(
    pattern: str, text: str, where: Callable[[Source, ast.Call], bool] = lambda s, c: True
) -> Callable[[Source], Iterator[Edit]]:
    name = text.partition("=")[0]

    def places(source: Source) -> Iterator[Edit]:
        for call in source.calls(pattern):
            if where(source, call) and not any(k.arg in (name, None) for k in call.keywords):
                inner = ", ".join(
                    [*map(source.segment, call.args), *map(source.segment, call.keywords), text]
                )
                yield replaced(call, f"{source.segment(call.func)}({inner})")

    return places


def swapped(source: Source, first: str, second: str) -> Iterator[Edit]:
    """Two statements that follow one another, in the other order."""
    for call in source.calls(first):
        one = source.parents[call]
        block = next(
            (
                b
                for b in (getattr(source.parents.get(one), n, None) for n in ("body", "orelse"))
                if isinstance(b, list) and one in b
            ),
            [],
        )
        after = block[block.index(one) + 1 :][:2] if isinstance(one, ast.Expr) else []
        for other in after:
            if (
                isinstance(other, ast.Expr)
                and isinstance(other.value, ast.Call)
                and re.fullmatch(second, ast.unparse(other.value.func))
            ):
                yield Edit(
                    one.lineno, ((*span(one), source.segment(other)), (*span(other), source.segment(one)))
                )
