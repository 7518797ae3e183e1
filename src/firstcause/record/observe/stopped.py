"""Who will stop an exception on its way out, read from the files of the frames that it has still to pass.

``foreseen``: a clause that names its type, or one that answers with a status of 4xx. ``wholesale``: a clause that
takes whatever comes, or one that answers with 5xx. None: nobody, and it ends its thread or the program.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import FrameType
from typing import Any, Literal

WHOLESALE = (BaseException, Exception)
LONGEST = 20_000


@dataclass(frozen=True)
class Stop:
    """The clause that stops an exception: how, and its place."""

    how: Literal["foreseen", "wholesale"]
    file: str
    line: int


def stopped(error: BaseException, frame: FrameType | None) -> Stop | None:
    """The clause that will stop ``error``, which is leaving the line at which ``frame`` stands."""
    while frame is not None:
        for handlers in _around(frame.f_code.co_filename, frame.f_lineno):
            for names, line, body in handlers:
                how = _takes(error, names, frame)
                if how is None:
                    continue
                if _raises_again(body):
                    # What it raises goes outwards as this one does.
                    break
                return Stop(_by_answer(body) or how, frame.f_code.co_filename, line)
        frame = frame.f_back
    return None


Clause = tuple["ast.expr | None", int, "list[ast.stmt]"]


def _around(path: str, line: int) -> Iterator[list[Clause]]:
    """The clauses of each statement around a line that may stop an exception, innermost first."""
    tree = _parsed(path)
    found: list[tuple[int, list[Clause]]] = []
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            body: list[ast.stmt] = node.body  # type: ignore[attr-defined]
            if body[0].lineno <= line <= (body[-1].end_lineno or body[-1].lineno):
                found.append((body[0].lineno, [(h.type, h.lineno, h.body) for h in node.handlers]))  # type: ignore[attr-defined]
        elif isinstance(node, ast.With) and node.body[0].lineno <= line <= (node.end_lineno or node.lineno):
            for item in node.items:
                call = item.context_expr
                if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] == "suppress":
                    named = ast.Tuple(list(call.args), ast.Load())
                    found.append((node.body[0].lineno, [(named, node.lineno, [])]))
    for _, clauses in sorted(found, key=lambda f: -f[0]):
        yield clauses


@lru_cache(maxsize=64)
def _parsed(path: str) -> ast.Module | None:
    lines = linecache.getlines(path)
    if not lines or len(lines) > LONGEST:
        return None
    try:
        return ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError):
        # A notebook's cell, or a file that has changed since it was loaded.
        return None


def _takes(
    error: BaseException, named: ast.expr | None, frame: FrameType
) -> Literal["foreseen", "wholesale"] | None:
    if named is None:
        return "wholesale"
    for one in named.elts if isinstance(named, ast.Tuple) else [named]:
        kinds = _classes(one, frame)
        if any(k in WHOLESALE and isinstance(error, k) for k in kinds):
            return "wholesale"
        if any(isinstance(error, k) for k in kinds):
            return "foreseen"
    return None


def _classes(node: ast.expr, frame: FrameType) -> list[type[BaseException]]:
    """The exception classes that a name stands for; nothing of the program is run to find them."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return []
    builtins = frame.f_builtins
    value: Any = {**builtins, **frame.f_globals}.get(node.id)
    for part in reversed(parts):
        value = getattr(value, "__dict__", {}).get(part)
    many = value if isinstance(value, tuple) else (value,)
    return [v for v in many if isinstance(v, type) and issubclass(v, BaseException)]


def _raises_again(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Raise)


def _by_answer(body: list[ast.stmt]) -> Literal["foreseen", "wholesale"] | None:
    """What an HTTP status among a clause's constants says of the exception: whose fault it is."""
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Constant) and type(node.value) is int and 400 <= node.value < 600:
                return "foreseen" if node.value < 500 else "wholesale"
            if isinstance(node, ast.Attribute) and node.attr in (
                "INTERNAL_SERVER_ERROR",
                "SERVICE_UNAVAILABLE",
            ):
                return "wholesale"
            if isinstance(node, ast.Attribute) and node.attr in ("BAD_REQUEST", "UNPROCESSABLE_ENTITY"):
                return "foreseen"
    return None
