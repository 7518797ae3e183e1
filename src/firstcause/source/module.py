"""One file of the user's code, parsed: text, lines, tree, and the way from a node back to both."""

from __future__ import annotations

import ast
import io
import os
import re
import tokenize
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

from firstcause.schema import Site

T = TypeVar("T")
N = TypeVar("N", bound=ast.AST)
# Load, Store and operators are one object for the whole tree; the others hold texts and numbers.
_NO_CHILDREN = frozenset(
    {"ctx", "op", "ops", "id", "attr", "asname", "arg", "kind", "type_comment", "module", "level", "is_async"}
    | {"simple", "conversion", "rest", "tag", "kwd_attrs", "str"}
)
# Holders of texts and numbers alone.
_LEAVES: tuple[type[ast.AST], ...] = (
    ast.Constant, ast.MatchSingleton, ast.Name, ast.Global, ast.Nonlocal, ast.alias, ast.MatchStar, ast.Pass,
    ast.Break, ast.Continue,
)  # fmt: skip
# The fields in which a kind of node can hold others, as far as somebody has asked.
_CHILDREN: dict[type[ast.AST], tuple[str, ...]] = dict.fromkeys(_LEAVES, ())
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
# Functions that have a name.
DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef)
FUNCTIONS = (*DEFINED, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)

# Larger files are generated data, and ast needs about 100 bytes a byte.
MAX_BYTES = 2_000_000


class Module:
    """A parsed file; ``name`` is its path as the user would type it from the project's root."""

    def __init__(self, path: str, name: str, raw: bytes) -> None:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        # Decoded here and not by open(): newlines must stay as they are, or edits would move.
        text = raw.decode(encoding)
        try:
            tree = ast.parse(text, filename=path)
        except ValueError as error:
            # Null bytes, before Python 3.11.4.
            raise SyntaxError(str(error)) from error
        self._hold(path, name, text, tree, encoding)
        self.bom = raw.startswith(b"\xef\xbb\xbf")

    def _hold(self, path: str, name: str, text: str, tree: ast.Module, encoding: str = "utf-8") -> None:
        self.path = path
        self.name = name
        self.text = text
        self.tree = tree
        self.encoding = encoding
        self.bom = False
        # What each name means at the module's end, once somebody has asked.
        self.ends: dict[object, Any] = {}
        self.parents: dict[ast.AST, ast.AST] = {}
        # What is kept here once somebody has asked what a name means: the names that are bound anywhere in the file, those
        # that are bound within a function or a class, and those that can stand for something that has a name of its own.
        self.indexed = False
        self.bound: set[str] = set()
        self.bound_within: set[str] = set()
        self.nameable: set[str] = set()
        # Of these, the names that are given another name's value.
        self.aliases: set[str] = set()
        # Every node by its type, in the order of the text.
        self.by_type: dict[type[ast.AST], list[ast.AST]] = {}
        # The number of each node in that order: what a node holds follows it without a gap.
        self.place: dict[ast.AST, int] = {}
        self._index()

    def _index(self) -> None:
        # One walk for all, without a call for each node, as `children` would be. ast.walk makes a generator and a deque's
        # entry for each, and costs three times as much.
        parents, by_type, place = self.parents, self.by_type, self.place
        stack: list[ast.AST] = [self.tree]
        number = 0
        while stack:
            node = stack.pop()
            place[node] = number
            number += 1
            kind = node.__class__
            if kind in by_type:
                by_type[kind].append(node)
            else:
                by_type[kind] = [node]
            fields = _CHILDREN.get(kind)
            if fields is None:
                fields = _child_fields(kind)
            if not fields:
                continue
            held: list[ast.AST] = []
            for field in fields:
                value = getattr(node, field, None)
                if value.__class__ is list:
                    held += [child for child in value if child is not None] if None in value else value
                elif value is not None:
                    held.append(value)
            for child in held:
                parents[child] = node
            held.reverse()
            stack += held

    def nodes(self, *kinds: type[N]) -> Iterator[N]:
        """Every node of these types, in the order of the text for each type."""
        found = self.by_type
        return chain.from_iterable([found.get(kind, ()) for kind in kinds])  # type: ignore[misc]

    def inside(self, node: ast.AST, *kinds: type[N]) -> list[N]:
        """The nodes of these types within a node, itself included, in the order of the text for each type."""
        place = self.place
        first, last = place[node], place[self._last(node)]
        found: list[N] = []
        for kind in kinds:
            nodes = self.by_type.get(kind, [])
            start = bisect_left(nodes, first, key=place.__getitem__)
            found += nodes[start : bisect_right(nodes, last, start, key=place.__getitem__)]  # type: ignore[arg-type]
        return found

    def _last(self, node: ast.AST) -> ast.AST:
        """The node of a subtree that stands last in the order of the text."""
        while True:
            held = children(node)
            if not held:
                return node
            node = held[-1]

    @cached_property
    def lines(self) -> list[str]:
        """The lines with their ends, split where Python's tokenizer splits them (not at form feeds)."""
        if "\r" in self.text:
            return [line for line in re.split(r"(?<=\n)|(?<=\r)(?!\n)", self.text) if line]
        whole = self.text.split("\n")
        last = whole.pop()
        return [f"{line}\n" for line in whole] + ([last] if last else [])

    @cached_property
    def global_statements(self) -> dict[str, list[FunctionNode]]:
        """The functions that declare a name global, by name."""
        found: dict[str, list[FunctionNode]] = {}
        for node in self.nodes(ast.Global):
            function = self.function(node)
            for name in node.names if function is not None else ():
                found.setdefault(name, []).append(function)  # type: ignore[arg-type]
        return found

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line))
        return starts

    def offset(self, line: int, column: int) -> int:
        """The index into ``text`` of a 1-based line and a column in UTF-8 bytes, as ``ast`` counts."""
        if line > len(self.lines):
            return len(self.text)
        content = self.lines[line - 1]
        if not content.isascii():
            column = len(content.encode()[:column].decode(errors="ignore"))
        return self._starts[line - 1] + column

    def position(self, offset: int) -> tuple[int, int]:
        """The line and UTF-8 column of an index into ``text``; the inverse of ``offset``."""
        low, high = 0, len(self.lines)
        while low < high:
            middle = (low + high) // 2
            if self._starts[middle + 1] <= offset:
                low = middle + 1
            else:
                high = middle
        return low + 1, len(self.text[self._starts[low] : offset].encode())

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node starts and ends in ``text``."""
        first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
        return self.offset(first, getattr(node, "col_offset", 0)), self.offset(
            last, getattr(node, "end_col_offset", 0)
        )

    def segment(self, node: ast.AST) -> str:
        """The source text of a node, as it is written."""
        start, end = self.span(node)
        return self.text[start:end]

    def line(self, number: int) -> str:
        return self.lines[number - 1].strip() if 1 <= number <= len(self.lines) else ""

    def site(self, node: ast.AST) -> Site:
        """The Site of a node's first line."""
        number: int = getattr(node, "lineno", 1)
        return Site(self.name, self.raw_line(number), self.qualified_name(node), self.line(number))

    def raw_line(self, number: int) -> int:
        """The line of the file on disk that a line of ``text`` stands on: another one in a notebook."""
        return number

    def cell(self, number: int) -> tuple[int, int]:
        """The cell of a notebook, and the line in it, both from 1, that a line of ``text`` is; (0, 0) elsewhere."""
        return 0, 0

    def qualified_name(self, node: ast.AST) -> str:
        """The dotted name of the functions and classes around a node; empty at module level."""
        names = [
            getattr(parent, "name", "<lambda>")
            for parent in self.ancestors(node)
            if isinstance(parent, (*FUNCTIONS, ast.ClassDef))
        ]
        return ".".join(reversed(names))

    def ancestors(self, node: ast.AST) -> list[ast.AST]:
        """The nodes around a node, innermost first."""
        found = []
        parent = self.parents.get(node)
        while parent is not None:
            found.append(parent)
            parent = self.parents.get(parent)
        return found

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement that holds a node, or the node itself."""
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.stmt):
            current = self.parents.get(current)
        return current

    def function(self, node: ast.AST) -> FunctionNode | None:
        """The innermost function around a node."""
        parents = self.parents
        parent = parents.get(node)
        while parent is not None:
            if isinstance(parent, FUNCTIONS):
                return parent
            parent = parents.get(parent)
        return None

    def method_class(self, node: ast.AST) -> ast.ClassDef | None:
        """The class whose method (or a function nested in it) holds a node."""
        parents = self.parents
        parent = parents.get(node)
        while parent is not None:
            if isinstance(parent, ast.ClassDef):
                return parent
            parent = parents.get(parent)
        return None

    def nodes_on(self, line: int) -> list[ast.AST]:
        """The expressions and statements that touch a line, outermost first, in order of evaluation text."""
        found = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, (ast.expr, ast.stmt))
            and node.lineno <= line <= (node.end_lineno or node.lineno)
        ]
        return sorted(found, key=lambda n: (self.span(n)[0], -self.span(n)[1]))

    @cached_property
    def tokens(self) -> list[tokenize.TokenInfo]:
        """The tokens of the file; columns are characters here, not bytes."""
        return list(tokenize.generate_tokens(io.StringIO(self.text, newline="").readline))


def targets_of(node: ast.AST) -> list[ast.expr]:
    """What an assignment writes to, an augmented one too; nothing for any other node."""
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AugAssign) else []


def within(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all that it holds, in the order of their fields; contexts and operators left out.

    ast.walk takes three times as long.
    """
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        held = children(node)
        held.reverse()
        waiting += held


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes that a node holds directly, in the order of its fields; contexts and operators left out."""
    kind = node.__class__
    fields = _CHILDREN.get(kind)
    if fields is None:
        fields = _child_fields(kind)
    held: list[ast.AST] = []
    for field in fields:
        value = getattr(node, field, None)
        if value.__class__ is list:
            held += [child for child in value if child is not None] if None in value else value
        elif value is not None:
            held.append(value)
    return held


def _child_fields(kind: type[ast.AST]) -> tuple[str, ...]:
    # Of all that has a name, that of a type alias alone is a node.
    found = tuple(
        f for f in kind._fields if f not in _NO_CHILDREN and (f != "name" or kind.__name__ == "TypeAlias")
    )
    _CHILDREN[kind] = found
    return found


def kept(node: ast.AST, key: str, make: Callable[[], T]) -> T:
    """What was found out about a node, kept on it: the same classes and blocks are asked about again and again."""
    store = vars(node)
    if key not in store:
        store[key] = make()
    found: T = store[key]
    return found


def display_name(path: str, root: str) -> str:
    """The path as a user at ``root`` would type it: relative beneath it, else absolute."""
    relative = os.path.relpath(path, root)
    return path if relative.startswith("..") else relative
