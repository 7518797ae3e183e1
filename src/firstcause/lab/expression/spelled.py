"""What a user types to name a value: an expression of names, attributes and subscripts, and where it stands."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from firstcause.errors import InputError

ALLOWED = (
    ast.Expression, ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Slice, ast.Tuple, ast.UnaryOp,
    ast.USub, ast.Load,
)  # fmt: skip
PLACE = re.compile(r"(?P<file>[^:]+\.py):(?P<line>\d+):(?P<text>.+)", re.DOTALL)


@dataclass(frozen=True)
class Spelled:
    """An expression's text and root name; with ``file`` and ``line``, only the function there is meant."""

    text: str
    root: str
    file: str = ""
    line: int = 0


def spelled(words: str) -> Spelled:
    """What ``EXPR`` or ``file:line:EXPR`` means; raises ``InputError`` for anything that could do more than read a value."""
    placed = PLACE.fullmatch(words.strip())
    text = (placed["text"] if placed else words).strip()
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError as error:
        raise _refused(text, f"it is no expression ({error.msg})") from error
    for node in ast.walk(tree):
        if not isinstance(node, ALLOWED):
            raise _refused(text, f"it has a {type(node).__name__}")
    root: ast.expr = tree.body
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    if not isinstance(root, ast.Name):
        raise _refused(text, "it does not begin with a name")
    return Spelled(
        ast.unparse(tree), root.id, placed["file"] if placed else "", int(placed["line"]) if placed else 0
    )


def _refused(text: str, why: str) -> InputError:
    return InputError(
        "trace-expression",
        f"{text!r} cannot be followed: {why}",
        "a name of your program with attributes and subscripts, such as x, self.weight or batch['labels'][0]",
    )
