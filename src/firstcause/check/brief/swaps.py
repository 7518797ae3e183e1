"""What is given up for another value: "replace Adam by AdamW", "switch from fp16 to bf16", "SGD -> Adam"."""

from __future__ import annotations

from itertools import pairwise

from firstcause.check.brief.reading import Line
from firstcause.check.brief.vocabulary import word_set

_REPLACES = word_set("swaps", "replaces")
_MOVES = word_set("swaps", "moves")
_FOR = word_set("swaps", "for")
_ARROWS = frozenset({"->", "→", "=>"})
_FARTHEST = 5


def swaps(line: Line) -> None:
    """Let the first of two values of a key be unwanted where words say that the second replaces it."""
    readings = sorted((r for r in line.readings if isinstance(r.value, str)), key=lambda r: r.first)
    for old, new in pairwise(readings):
        if old.key != new.key or old.value == new.value or new.first - old.last > _FARTHEST + 1:
            continue
        between = set(line.words(old.last + 1, new.first))
        before = line.words(old.first - _FARTHEST, old.first)
        moved = "to" in between and "from" in before and bool(_MOVES & set(before))
        if moved or between & _ARROWS:
            old.status, old.settled, new.corrects = "superseded", True, True
        elif between & _FOR and _REPLACES & set(before):
            old.polarity, old.settled = "forbid", True
            new.settled = new.corrects = True
