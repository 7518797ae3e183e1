"""Numbers that a shell script computes: how many items a variable or an array holds, and products."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

_OF_ARRAY = re.compile(r"\$\{#(\w+)\[[@*]\]\}")
_TEXT = r"(?P<text>\"[^\"]*\"|'[^']*'|[\w$,{}:.-]+)"
_ECHO = rf"\s*(?:echo|printf\s+'?\"?%s(?:\\n)?'?\"?)\s+(?:-n\s+)?{_TEXT}\s*"
_HERE = rf"\s*<<<\s*{_TEXT}\s*"
_LINES = r"\s*tr\s+'?\"?,'?\"?\s+(?:'\\n'|\"\\n\"|\\\\n)\s*"
_FIELDS = r"\s*awk\s+-F\s*'?\"?,'?\"?\s+'\{\s*print\s+NF;?\s*\}'\s*"
_COUNT = r"\s*wc\s+(?:-l|-w)\s*"
# The ways in which scripts count the cards that they are given.
_OF_ITEMS = tuple(
    re.compile(rf"\$\({pattern}\)")
    for pattern in (
        rf"{_LINES}{_HERE}\|{_COUNT}",
        rf"{_ECHO}\|{_LINES}\|{_COUNT}",
        rf"{_FIELDS}{_HERE}",
        rf"{_ECHO}\|{_FIELDS}",
    )
)
_FIGURES = re.compile(r"[\w.:/-]+(?:,[\w.:/-]+)*")

# A product, as scripts write a length: ``$((16 * 1024))``.
_COMPUTED = re.compile(r"\$\(\(([^()]*)\)\)")
_FACTOR = re.compile(r"\$?\{?(\w+)\}?")

Known = dict[str, ast.expr]
Arrays = dict[str, list[ast.expr]]


def counted(
    word: str, known: Known, arrays: Arrays, plain: Callable[[str, Known, Arrays], str]
) -> int | None:
    """The number that ``${#GPUS[@]}`` or ``$(tr ',' '\n' <<< "$GPUS" | wc -l)`` stands for, where it is known."""
    array = _OF_ARRAY.fullmatch(word)
    if array:
        return len(arrays[array[1]]) if array[1] in arrays else None
    computed = _COMPUTED.fullmatch(word)
    if computed:
        return _product(computed[1], known, arrays, plain)
    for pattern in _OF_ITEMS:
        match = pattern.fullmatch(word)
        if match:
            text = plain(match["text"], known, arrays)
            return text.count(",") + 1 if _FIGURES.fullmatch(text) else None
    return None


def _product(
    text: str, known: Known, arrays: Arrays, plain: Callable[[str, Known, Arrays], str]
) -> int | None:
    """A product of whole numbers and of variables that hold some; None for any other arithmetic."""
    result = 1
    for part in text.split("*"):
        factor = _FACTOR.fullmatch(part.strip())
        if factor is None:
            return None
        value = factor[1] if factor[1].isdigit() else plain(f"${factor[1]}", known, arrays)
        if not value.isdigit():
            return None
        result *= int(value)
    return result
