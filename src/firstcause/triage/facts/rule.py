"""A kind of fact, and where in a text it stands."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

# More of one kind is no fact any more but a listing.
MOST = 24


@dataclass(frozen=True)
class Rule:
    """What to look for: ``near`` are words of which a text holds one, in lower case, so that most rules cost nothing.

    ``number`` makes the values whole numbers. ``places`` says where: "all", "errors", "words" (prose and code).
    """

    key: str
    near: tuple[str, ...]
    pattern: str
    number: bool = False
    places: str = "all"
    case: bool = False

    def values(self, text: str, folded: str) -> Iterator[str | int]:
        """What a text says; ``folded`` is the text in lower case."""
        if self.near and not any(word in folded for word in self.near):
            return
        for match in _compiled(self.pattern, self.case).finditer(text):
            for value in match.groups() or (match[0],):
                if value is None:
                    continue
                if not self.number:
                    yield value.strip().rstrip(".")
                elif len(value) <= 18:
                    yield int(value)


@functools.cache
def _compiled(pattern: str, case: bool) -> re.Pattern[str]:
    return re.compile(pattern, 0 if case else re.IGNORECASE)


def distinct(values: Iterator[str | int] | list[str | int] | list[str], most: int = MOST) -> list[str | int]:
    """The first values without repetition."""
    found: dict[str | int, None] = {}
    for value in values:
        if value != "":
            found.setdefault(value)
        if len(found) >= most:
            break
    return list(found)
