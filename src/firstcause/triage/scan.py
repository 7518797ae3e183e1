"""The pieces of a text that are worth reading: all of a short one; of a long one its ends and what stands near a hit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from firstcause.triage.engines import Engine

# Read line by line up to here; a longer text is searched first.
SHORT = 256 << 10
HEAD, TAIL = 16 << 10, 64 << 10
BEFORE, AFTER = 2 << 10, 8 << 10
TRACEBACK = 24 << 10
BLOCK = 8 << 20

_TRACEBACK = b"(most recent call last)"
# What tells of a failure whether or not the catalogue words it.
MARKS = (
    _TRACEBACK,
    b"Error: ",
    b"Exception: ",
    b"Root Cause (first observed failure)",
    b"Watchdog caught collective",
    b"exitcode",
    b"Assertion `",
    b"Fatal Python error",
    b"core dumped",
    b"slurmstepd",
    b"srun: error",
    b" nan",
    b"=nan",
    b" NaN",
)


class Region(NamedTuple):
    """A piece of a text: where it begins, the number of its first line, its bytes."""

    offset: int
    first: int
    data: bytes


class Scanned(NamedTuple):
    """A text after the search: the pieces to read, how often each literal stands in it, its size and its lines.

    A text that was read whole has no counts.
    """

    regions: list[Region]
    counts: dict[bytes, int]
    size: int
    lines: int


def scanned(chunks: Iterator[bytes], literals: Iterable[bytes]) -> Scanned:
    """Search a text for literals, in one pass and bounded memory."""
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) > SHORT:
            return _Search(literals).run(_blocks(head, chunks))
    lines = head.count(b"\n") + (bool(head) and not head.endswith(b"\n"))
    return Scanned([Region(0, 1, head)] if head else [], {}, len(head), lines)


def _blocks(head: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    held, size = [head], len(head)
    for chunk in chunks:
        held.append(chunk)
        size += len(chunk)
        if size >= BLOCK:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)


class _Kept:
    """The regions kept of one literal: the first places and the last ones."""

    def __init__(self, literal: bytes) -> None:
        traceback = literal == _TRACEBACK
        # Each rank writes its own traceback, and the first of them may be anywhere among them.
        self.most_first, self.most_last = (12, 6) if traceback else (3, 2)
        self.before, self.after = (BEFORE // 2, TRACEBACK) if traceback else (BEFORE, AFTER)
        self.first: list[Region] = []
        self.last: list[Region] = []
        self.count = 0

    def wanted(self, places: list[int], last: int) -> list[int]:
        free = self.most_first - len(self.first)
        return sorted({*places[:free], *places[free:][-self.most_last :], last})

    def add(self, region: Region) -> None:
        if len(self.first) < self.most_first:
            self.first.append(region)
        else:
            self.last = [*self.last, region][-self.most_last :]


class _Search:
    def __init__(self, literals: Iterable[bytes]) -> None:
        self.engine = Engine({*literals, *MARKS})
        self.kept: dict[bytes, _Kept] = {}
        # Of the bytes at hand: where they begin in the text, and the number of the line there.
        self.offset, self.line = 0, 1

    def run(self, blocks: Iterator[bytes]) -> Scanned:
        block = next(blocks)
        data, fresh = block, 0
        regions = [Region(0, 1, block[:HEAD])]
        for following in blocks:
            # What stands near the end is looked at together with what follows it.
            end = max(fresh, len(data) - TRACEBACK)
            self._look(data, fresh, end)
            cut = max(0, end - TAIL)
            self.line += data.count(b"\n", 0, cut)
            self.offset += cut
            data, fresh = data[cut:] + following, end - cut
        self._look(data, fresh, len(data))
        regions.append(self._region(data, max(0, len(data) - TAIL), len(data), len(data), 0, self.line))
        size = self.offset + len(data)
        lines = self.line + data.count(b"\n") - data.endswith(b"\n")
        for kept in self.kept.values():
            regions += kept.first + kept.last
        counts = {literal: kept.count for literal, kept in self.kept.items()}
        return Scanned(_merged(regions, size), counts, size, lines)

    def _look(self, data: bytes, start: int, end: int) -> None:
        wanted = []
        for literal, places in self.engine.find(data, start, end).items():
            kept = self.kept.setdefault(literal, _Kept(literal))
            kept.count += places.times
            wanted += [(place, literal) for place in kept.wanted(places.first, places.last)]
        at, line = 0, self.line
        for place, literal in sorted(wanted):
            kept = self.kept[literal]
            first = max(0, place - kept.before)
            if first > at:
                line += data.count(b"\n", at, first)
                at = first
            kept.add(self._region(data, first, place, place + kept.after, at, line))

    def _region(self, data: bytes, start: int, place: int, end: int, at: int, line: int) -> Region:
        """``data[start:end]``, from a start of a line before ``place`` on; ``line`` is the number of the line at ``at``."""
        line += data.count(b"\n", at, start) if start >= at else -data.count(b"\n", start, at)
        if start + self.offset > 0 and data[start - 1 : start] != b"\n":
            cut = data.find(b"\n", start, place)
            if cut >= 0:
                start, line = cut + 1, line + 1
        return Region(self.offset + start, line, data[start:end])


def _merged(regions: list[Region], size: int) -> list[Region]:
    """Regions in order, those that touch made one, each to the end of a line where it has one."""
    merged: list[Region] = []
    for region in sorted(regions):
        last = merged[-1] if merged else None
        end = last.offset + len(last.data) if last else -1
        if last and region.offset <= end:
            merged[-1] = last._replace(data=last.data + region.data[end - region.offset :])
        else:
            merged.append(region)
    return [_whole_lines(region, size) for region in merged]


def _whole_lines(region: Region, size: int) -> Region:
    cut = region.data.rfind(b"\n")
    if region.offset + len(region.data) >= size or cut <= 0:
        return region
    return region._replace(data=region.data[: cut + 1])
