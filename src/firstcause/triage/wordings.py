"""The catalogue's messages in a text: found by their literals, then decided by their own bounded expressions."""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from firstcause.catalog import placeholders
from firstcause.schema.pattern import Pattern
from firstcause.schema.triage import Seen
from firstcause.triage.expressions import expression
from firstcause.triage.lines import Line

# A message is at most a few hundred characters long, and stands around its literal.
BEFORE, AFTER = 2000, 4000
# So many places of one wording are read; beyond that they are counted.
READ = 12
# An expression may fit some times before the place that it is looked for at.
TRIES = 40
SHOWN = 300
# Where hundreds of ranks say the same, the first of them stand for all.
RANKS = 16


class Wording(NamedTuple):
    """A message of a pattern, and the literal that a text must hold for it."""

    pattern: str
    text: str
    literal: bytes


class Wordings:
    """All messages of a catalogue, by the literal that each is found by."""

    def __init__(self, patterns: Mapping[str, Pattern]) -> None:
        self.by_literal: dict[bytes, list[Wording]] = {}
        for slug, pattern in patterns.items():
            for message in pattern.messages:
                key = " ".join(placeholders.literal(message.text).split()).encode()
                if key:
                    self.by_literal.setdefault(key.lower(), []).append(Wording(slug, message.text, key))

    def literals(self) -> set[bytes]:
        """The literals as they are printed, for the search of a long text."""
        return {wording.literal for wordings in self.by_literal.values() for wording in wordings}

    def seen(self, pieces: Sequence[Sequence[Line]], counts: Mapping[bytes, int]) -> list[Seen]:
        """The messages in pieces of a text, in the order of their lines; ``counts`` is of a text too long to be read."""
        found: list[Seen] = []
        for piece in pieces:
            texts = [_Text(piece, prefixes=False)]
            if any(line.text is not line.raw for line in piece):
                texts += [*_by_stream(piece), _Text(piece, prefixes=True)]
            places: dict[tuple[str, int], list[_Match]] = {}
            for text in texts:
                for match in self._matches(text):
                    places.setdefault((match.wording.pattern, match.line.number), []).append(match)
            found += [max(matches, key=lambda match: match.size).seen() for matches in places.values()]
        return _summed(
            found, {w.text: counts.get(w.literal, 0) for ws in self.by_literal.values() for w in ws}
        )

    def _matches(self, text: _Text) -> Iterator[_Match]:
        for key, wordings in self.by_literal.items():
            places = list(_places(text.folded, key))
            if not places:
                continue
            for wording in wordings:
                for number, place in enumerate(places):
                    if number < READ or number >= len(places) - 2:
                        if match := text.match(wording, place):
                            yield match
                    elif number == READ and (match := text.match(wording, place)):
                        # Where the next one fits as well, the rest is counted by its literal alone.
                        yield from (
                            _Match(wording, text.line_at(p), match.size, match.text) for p in places[READ:-2]
                        )


class _Match(NamedTuple):
    wording: Wording
    line: Line
    size: int
    text: str

    def seen(self) -> Seen:
        shown = self.text if len(self.text) <= SHOWN else self.text[: SHOWN - 1] + "…"
        return Seen(self.wording.pattern, self.line.number, shown, self.wording.text, _rank(self.line))


class _Text:
    """Lines joined, each run of spaces made one space; as bytes, because those fold in place."""

    def __init__(self, lines: Sequence[Line], prefixes: bool) -> None:
        self.lines = lines
        encoded = [_narrow(line.raw if prefixes else line.text).encode("utf-8", "replace") for line in lines]
        self.starts = [0]
        for part in encoded:
            self.starts.append(self.starts[-1] + len(part) + 1)
        self.data = b"\n".join(encoded)
        self.folded = self.data.lower().replace(b"\n", b" ")

    def line_at(self, place: int) -> Line:
        return self.lines[bisect.bisect_right(self.starts, place, 0, len(self.lines)) - 1]

    def match(self, wording: Wording, place: int) -> _Match | None:
        """The message at a place of its literal, where all of it stands there."""
        start = max(0, place - BEFORE)
        before = self.data[start:place].decode("utf-8", "ignore")
        text = before + self.data[place : place + AFTER].decode("utf-8", "ignore")
        at = 0
        for _ in range(TRIES):
            match = _compiled(wording.text).search(text, at)
            if match is None or match.start() > len(before):
                return None
            if match.end() > len(before):
                first = place - len(before[match.start() :].encode())
                line = self.line_at(first)
                if self.line_at(first + len(match[0].encode()) - 1).origin.stream != line.origin.stream:
                    # Two writers' words, one below the other.
                    return None
                return _Match(wording, line, match.end() - match.start(), " ".join(match[0].split()))
            at = match.start() + 1
        return None


def _narrow(text: str) -> str:
    return " ".join(text.split())


@functools.cache
def _compiled(text: str) -> re.Pattern[str]:
    return re.compile(placeholders.expression(text), re.IGNORECASE)


def _places(folded: bytes, key: bytes) -> Iterator[int]:
    at = folded.find(key)
    while at >= 0:
        yield at
        at = folded.find(key, at + len(key))


def _by_stream(piece: Sequence[Line]) -> Iterator[_Text]:
    """The lines of each writer together: a message of several lines is not interrupted by another rank."""
    if len({line.origin.stream for line in piece}) > 1:
        yield _Text(sorted(piece, key=lambda line: line.origin.stream), prefixes=False)


_SAID = expression(r"\[rank ?:? ?(\d{1,5})\]|\brank:? ?(\d{1,5})\b", re.IGNORECASE)


def _rank(line: Line) -> int | None:
    if line.origin.rank is not None:
        return line.origin.rank
    match = _SAID.search(line.text[:400])
    return int(match[1] or match[2]) if match else None


def _summed(found: Iterable[Seen], counts: Mapping[str, int]) -> list[Seen]:
    """One entry a wording and rank, at its first line."""
    first: dict[tuple[str, str, int | None], Seen] = {}
    ranks: dict[tuple[str, str], int] = {}
    for seen in sorted(found, key=lambda seen: (seen.line, seen.pattern)):
        key = (seen.pattern, seen.wording, seen.rank)
        earlier = first.get(key)
        if earlier is None:
            ranks[key[:2]] = ranks.get(key[:2], 0) + 1
            if ranks[key[:2]] > RANKS:
                continue
        first[key] = _with_count(earlier or seen, (earlier.count if earlier else 0) + 1)
    # In a long text only some places are read; where one rank alone words it so, all of them are its own.
    alone = {}
    for pattern, wording, _ in first:
        alone[pattern, wording] = (pattern, wording) not in alone
    return [
        _with_count(seen, max(seen.count, counts.get(seen.wording, 0)))
        if alone[seen.pattern, seen.wording]
        else seen
        for seen in first.values()
    ]


def _with_count(seen: Seen, count: int) -> Seen:
    return Seen(seen.pattern, seen.line, seen.text, seen.wording, seen.rank, count)
