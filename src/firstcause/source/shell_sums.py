"""Whole numbers that a shell script computes: ``$((16 * 1024))``, ``$((TOTAL / (PER_CARD * CARDS)))``."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable

_SUM = re.compile(r"\$\(\(([\w\s$+*/%(){}-]{1,200})\)\)")
_NAME = re.compile(r"\$?\{?([A-Za-z_]\w*)\}?")
_WHOLE = re.compile(r"\d{1,18}")
_DOES: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def computed(word: str, known: dict[str, ast.expr], target: str = "") -> int | None:
    """The number that a word in double brackets stands for, where all that it names is known.

    ``target`` is the variable that it is put into: one that is counted up, ``N=$((N + 1))``, has many values.
    """
    match = _SUM.fullmatch(word)
    if match is None or target in {m[1] for m in _NAME.finditer(match[1])}:
        return None
    written = _NAME.sub(lambda m: _number(known.get(m[1])), match[1]).replace("/", "//")
    try:
        tree = ast.parse(written.strip(), mode="eval").body
    except SyntaxError:
        return None
    return _value(tree)


def _number(node: ast.expr | None) -> str:
    """A variable's value where it is a whole number; what no sum takes where it is not."""
    text = str(node.value) if isinstance(node, ast.Constant) else ""
    return text if _WHOLE.fullmatch(text) else "?"


def _value(node: ast.expr) -> int | None:
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if not isinstance(node, ast.BinOp) or type(node.op) not in _DOES:
        return None
    left, right = _value(node.left), _value(node.right)
    divides = isinstance(node.op, (ast.FloorDiv, ast.Mod))
    # The shell cuts what is below nothing another way.
    if left is None or right is None or (divides and (right < 1 or left < 0)):
        return None
    return _DOES[type(node.op)](left, right)
