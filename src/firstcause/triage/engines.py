"""Where literals stand in a block of a long log, at the price of its distinct lines.

A log repeats its lines with other numbers. So lines are folded (each digit and letter of a hexadecimal number made a
zero), and the hundreds of literals are looked for in the distinct ones alone; a literal that some line holds is then
looked for in the block itself. Where lines do not repeat, distinct words take their place. An engine of automata needs
a compiled dependency, and its tables for this many literals outgrow their memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

# Of a literal that comes more often in one block, the rest is counted.
OFTEN = 256
# Shapes of lines that are remembered, and how long a line may be for it.
SHAPES, LONGEST_SHAPE = 100_000, 400
FEW = 128 << 10

_FOLD = bytes.maketrans(b"123456789abcdef", b"0" * 15)


class Places(NamedTuple):
    """Where a literal stands: its first places, its last one, how often."""

    first: list[int]
    last: int
    times: int


class _Literal(NamedTuple):
    text: bytes
    folded: bytes
    # Words with a space on both sides, and the longest word of all.
    inner: tuple[bytes, ...]
    longest: bytes


class Engine:
    """Finds literals in the blocks of one text, remembering the lines of earlier ones."""

    def __init__(self, literals: Iterable[bytes]) -> None:
        self.literals = []
        for text in sorted(set(literals)):
            folded = text.translate(_FOLD)
            words = folded.split(b" ")
            self.literals.append(_Literal(text, folded, tuple(words[1:-1]), max(words, key=len)))
        self.reach = max(len(literal.text) for literal in self.literals)
        self.signs = {sign for literal in self.literals for sign in literal.longest}
        self.shapes: dict[bytes, tuple[bytes, ...]] = {}

    def find(self, data: bytes, start: int, end: int) -> dict[bytes, Places]:
        """Literals that begin in ``data[start:end]``; what stands beyond ``end`` may complete them."""
        found = {}
        for text in sorted(self._present(data[start : end + self.reach - 1])):
            if places := _places(data, text, start, end + len(text) - 1):
                found[text] = places
        return found

    def _present(self, block: bytes) -> set[bytes]:
        lines = set(block.translate(_FOLD).split(b"\n"))
        fresh = [line for line in lines if line not in self.shapes]
        held = self._held(fresh)
        present = {literal.text for literal in held}
        for line in lines:
            present.update(self.shapes.get(line, ()))
        if len(self.shapes) > SHAPES:
            self.shapes.clear()
        if len(fresh) <= SHAPES:
            for line in fresh:
                if len(line) <= LONGEST_SHAPE:
                    self.shapes[line] = (
                        tuple(literal.text for literal in held if literal.folded in line) if held else ()
                    )
        return present

    def _held(self, lines: list[bytes]) -> list[_Literal]:
        """The literals that some of the lines hold."""
        text = b"\n".join(lines)
        if len(text) < FEW:
            return [literal for literal in self.literals if literal.folded in text]
        words = set(text.split())
        joined = b"\n".join(words)
        # A byte is looked for at the speed of memory.
        signs = {sign for sign in self.signs if sign in joined}
        likely = (
            literal
            for literal in self.literals
            if signs.issuperset(literal.longest) and words.issuperset(word for word in literal.inner if word)
        )
        return [literal for literal in likely if literal.longest in joined and literal.folded in text]


def _places(data: bytes, text: bytes, start: int, stop: int) -> Places | None:
    at = data.find(text, start, stop)
    first: list[int] = []
    while at >= 0 and len(first) < OFTEN:
        first.append(at)
        at = data.find(text, at + len(text), stop)
    if at >= 0:
        return Places(first, data.rfind(text, at, stop), len(first) + data.count(text, at, stop))
    return Places(first, first[-1], len(first)) if first else None
