"""A place at which inputs and targets may part, and the ways to write it otherwise."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from firstcause.source.module import Module
from firstcause.source.rewrites import Rewrite


@dataclass(frozen=True, eq=False)
class Parting:
    """A statement, what it does in words, and the ways to write it otherwise, the best one first."""

    module: Module
    statement: ast.stmt
    words: str
    ways: tuple[tuple[Rewrite, ...], ...]
