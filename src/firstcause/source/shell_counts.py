"""How many items a variable or an array of a shell script holds."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from firstcause.source.shell_branches import Variables

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


def counted(word: str, variables: Variables, plain: Callable[[str, Variables], str]) -> int | None:
    """The number that ``${#GPUS[@]}`` or ``$(tr ',' '\n' <<< "$GPUS" | wc -l)`` stands for, where it is known."""
    array = _OF_ARRAY.fullmatch(word)
    if array:
        words = variables.arrays.get(array[1])
        return len(words) if words is not None and not any(_is_unknown(w) for w in words) else None
    for pattern in _OF_ITEMS:
        match = pattern.fullmatch(word)
        if match:
            text = plain(match["text"], variables)
            return text.count(",") + 1 if _FIGURES.fullmatch(text) else None
    return None


def _is_unknown(word: ast.expr) -> bool:
    return isinstance(word, ast.Constant) and word.value == "{}"
