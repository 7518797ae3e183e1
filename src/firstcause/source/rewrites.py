"""Statements and the texts that are to stand for them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from firstcause.source.module import Module


@dataclass(frozen=True, eq=False)
class Rewrite:
    """A statement and the text that stands for it; its lines have no indentation of their own."""

    module: Module
    statement: ast.stmt
    text: str


def statements_of(way: Sequence[Rewrite]) -> list[dict[str, Any]]:
    """The same as a plan of ``lab/rewriting`` names them."""
    return [
        {
            "file": one.module.path,
            "line": one.statement.lineno,
            "column": one.statement.col_offset,
            "last": one.statement.end_lineno or one.statement.lineno,
            "kind": "run",
            "number": 0,
            "how": "instead",
            "text": one.text,
        }
        for one in way
    ]
