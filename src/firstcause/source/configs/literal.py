"""Values of a config file as Python's own literals, each with its place in the text."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import Any

# Deeper nesting, and more values, are no config that somebody wrote.
MAX_DEPTH = 60
MAX_VALUES = 1_000_000


class NotRead(ValueError):
    """A text that its format does not allow: ``line`` is where, the message says what."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


class Refused(NotRead):
    """A text that the format may allow and that is not read all the same: too deep, too large, tags of a program's own."""


class Places:
    """A text and its lines: an index into it becomes the line and column that ``ast`` counts."""

    def __init__(self, text: str, limit: int = MAX_VALUES) -> None:
        self.text = text
        self.limit = limit
        self.starts = [0, *(m.end() for m in re.finditer(r"\r\n|\n|\r", text))]
        self.made = 0
        self.is_ascii = text.isascii()
        self.widths: dict[int, list[int]] = {}

    def line(self, index: int) -> int:
        return bisect_right(self.starts, index)

    def place(self, node: ast.expr, start: int, end: int) -> ast.expr:
        """Put a node at a part of the text; raises ``Refused`` where there are too many."""
        self.made += 1
        if self.made > self.limit:
            raise Refused(self.line(start), f"more than {self.limit} values once its aliases are written out")
        node.lineno, node.col_offset = self._position(start)
        node.end_lineno, node.end_col_offset = self._position(end)
        return node

    def _position(self, index: int) -> tuple[int, int]:
        number = bisect_right(self.starts, index)
        first = self.starts[number - 1]
        if self.is_ascii:
            return number, index - first
        if number not in self.widths:
            # Counted once for a line: a file may be one line of megabytes.
            last = self.starts[number] if number < len(self.starts) else len(self.text)
            sizes = (len(c.encode(errors="replace")) for c in self.text[first:last])
            self.widths[number] = [0, *accumulate(sizes)]
        return number, self.widths[number][index - first]

    def constant(self, value: Any, start: int, end: int) -> ast.expr:
        return self.place(ast.Constant(value), start, end)

    def mapping(self, items: Iterable[tuple[ast.expr, ast.expr]], start: int, end: int) -> ast.expr:
        pairs = {key.value: (key, item) for key, item in items if isinstance(key, ast.Constant)}
        keys = [k for k, _ in pairs.values()]
        return self.place(ast.Dict(list(keys), [v for _, v in pairs.values()]), start, end)

    def sequence(self, items: list[ast.expr], start: int, end: int) -> ast.expr:
        return self.place(ast.List(items, ast.Load()), start, end)


def scalar(text: str) -> Any:
    """A word as command lines and configs mean it: a number, true, false, none, or the text itself."""
    lower = text.lower()
    if lower in ("true", "false"):
        return lower == "true"
    if lower in ("null", "none", "~"):
        return None
    if re.fullmatch(r"[-+]?\d{1,300}", text):
        return int(text)
    if re.fullmatch(r"[-+]?(\d+\.\d*|\.\d+|\d+)([eE][-+]?\d+)?", text):
        return float(text)
    return text
