"""From a file or a stream to a reading: its messages, tracebacks, ranks, facts, and the words beside them."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Iterator, Sequence
from typing import IO, Any

from firstcause.catalog.patterns import load_patterns
from firstcause.errors import InputError
from firstcause.triage import elastic, flight, recorded
from firstcause.triage.archives import CHUNK, Part, parts_of, shown
from firstcause.triage.facts import facts_of
from firstcause.triage.frames import frame_in
from firstcause.triage.languages import other_language
from firstcause.triage.lines import Line, lines_of
from firstcause.triage.pickles import PickleError
from firstcause.triage.prose import Split
from firstcause.triage.ranks import ranks_of
from firstcause.triage.reading import Raised, Reading
from firstcause.triage.scan import SHORT, scanned
from firstcause.triage.tracebacks import Tracebacks
from firstcause.triage.wordings import Wordings

# What a text may hold of bytes that no text has; a log cut off by a crash ends in zeros.
BINARY = 0.05
# The first exceptions tell where it began, the last ones how it ended.
EXCEPTIONS = 400
_WEIRD = bytes({*range(9), 11, *range(14, 27), *range(28, 32), 127})


def read(source: str | os.PathLike[str] | IO[bytes], name: str = "") -> Reading:
    """Read a file or a stream of bytes.

    Raises ``InputError`` where it is empty, no text, or cannot be opened.
    """
    opened = os.fspath(source) if isinstance(source, os.PathLike) else source
    name = name or (opened if isinstance(opened, str) else "standard input")
    return _read(parts_of(opened, name), name)


def read_all(paths: Sequence[str]) -> Reading:
    """Read several files as one text, such as the logs or the dumps of all ranks."""
    return _read(itertools.chain.from_iterable(parts_of(path, path) for path in paths), ", ".join(paths[:3]))


@functools.cache
def _wordings() -> Wordings:
    return Wordings(load_patterns())


class _Gathered:
    """What the parts of a text hold, one after another."""

    def __init__(self) -> None:
        self.pieces: list[list[Line]] = []
        self.counts: dict[bytes, int] = {}
        self.dumps: list[flight.Dump] = []
        self.notes: list[str] = []
        self.size = self.lines = 0
        self.long = False

    def add(self, part: Part, chunks: Iterator[bytes]) -> None:
        found = scanned(chunks, _wordings().literals())
        for region in found.regions:
            self.pieces.append(list(lines_of(region.data, self.lines + region.first, part.rank)))
        for literal, count in found.counts.items():
            self.counts[literal] = self.counts.get(literal, 0) + count
        self.size += found.size
        self.lines += found.lines
        self.long = self.long or bool(found.counts) or found.size > SHORT


def _read(parts: Iterator[Part], name: str) -> Reading:
    gathered = _Gathered()
    refused = ""
    for part in parts:
        refused = _part(part, gathered) or refused
        gathered.notes += part.notes
    if not gathered.pieces and not gathered.dumps:
        if refused:
            raise InputError("triage-binary", refused, "name the log or the traceback as text")
        if gathered.notes:
            raise InputError("triage-unreadable", gathered.notes[0], "unpack it and name the log itself")
        raise InputError(
            "triage-empty", f"{shown(name)} is empty", "paste the error with its traceback, or name a log"
        )
    if refused:
        gathered.notes.append(refused)
    return _reading(gathered)


def _part(part: Part, gathered: _Gathered) -> str:
    """Add a part; the answer says why it could not be used, if it could not."""
    chunks = _text(part.chunks)
    head = next(chunks, b"")
    if not head:
        return ""
    whole = itertools.chain([head], chunks)
    if flight.looks_like_dump(head[:4096]):
        data = _up_to(whole, flight.MOST)
        try:
            gathered.dumps.append(flight.dump_in(data, part.rank))
            gathered.size += len(data)
            return ""
        except PickleError as error:
            if head[:1] == b"\x80":
                return f"{part.name} is a pickle, and no flight-recorder dump: {error}"
            whole = itertools.chain([data], chunks)
    elif elastic.looks_like_error_file(head) or recorded.looks_like_run(head):
        data = _up_to(whole, elastic.MOST)
        told = elastic.error_file(data) or recorded.run_file(data)
        whole = itertools.chain([data if told is None else told.encode("utf-8", "replace")], chunks)
    sample = head[: 64 << 10]
    if len(sample.translate(None, _WEIRD)) < (1 - BINARY) * len(sample) and not _ends_in_zeros(head):
        weird = len(sample) - len(sample.translate(None, _WEIRD))
        return f"{part.name} is no text: {weird} of its first {len(sample)} bytes are control codes"
    gathered.add(part, whole)
    return ""


def _ends_in_zeros(head: bytes) -> bool:
    text = head[: 64 << 10].rstrip(b"\0")
    return len(text) > 0 and len(text.translate(None, _WEIRD)) > (1 - BINARY) * len(text)


def _up_to(chunks: Iterator[bytes], size: int) -> bytes:
    held: list[bytes] = []
    for chunk in chunks:
        held.append(chunk)
        size -= len(chunk)
        if size <= 0:
            break
    return b"".join(held)


def _text(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The chunks as UTF-8: a shell of Windows writes UTF-16."""
    first = next(chunks, b"")
    if first[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        yield first.removeprefix(b"\xef\xbb\xbf")
        yield from chunks
        return
    import codecs

    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    for chunk in itertools.chain([first], chunks):
        yield from _pieces(decoder.decode(chunk).encode("utf-8", "replace"))


def _pieces(data: bytes) -> Iterator[bytes]:
    for at in range(0, len(data), CHUNK):
        yield data[at : at + CHUNK]


def _reading(gathered: _Gathered) -> Reading:
    raised: list[Raised] = []
    used: set[int] = set()
    for piece in gathered.pieces:
        streams: dict[str, list[Line]] = {}
        for line in piece:
            streams.setdefault(line.origin.stream, []).append(line)
        for lines in streams.values():
            told = Tracebacks(
                next((line.origin.rank for line in lines if line.origin.rank is not None), None)
            ).read(lines)
            raised += told.raised
            used |= told.used
    raised.sort(key=lambda exception: (exception.line, exception.cause))
    if len(raised) > EXCEPTIONS:
        raised = raised[: EXCEPTIONS // 2] + raised[-EXCEPTIONS // 2 :]
    seen = _wordings().seen(gathered.pieces, gathered.counts)
    lines = [line for piece in gathered.pieces for line in piece]
    split = Split(used, {message.line: message.text for message in seen}, gathered.lines, gathered.long).read(
        lines
    )
    ranks = ranks_of(lines, raised)
    prose, code = "\n".join(split.prose).strip(), "\n".join(split.code)
    outside = [line for line in lines if line.number not in used or frame_in(line.text) is None]
    facts = facts_of(outside, raised, seen, ranks, f"{prose}\n{code}")
    first_failed = ranks.first_failed
    if gathered.dumps:
        told_by_dumps = flight.compared(gathered.dumps)
        seen = [*told_by_dumps.seen, *seen]
        facts = _joined(told_by_dumps.facts, facts)
        facts["collectives"] = list(told_by_dumps.lines)
        first_failed = told_by_dumps.behind if first_failed is None else first_failed
    return Reading(
        prose,
        tuple(seen),
        tuple(raised),
        facts,
        code,
        first_failed,
        gathered.size,
        gathered.lines,
        tuple(dict.fromkeys(gathered.notes)),
        "\n".join(split.metrics),
        "" if any(exception.frames for exception in raised) else other_language(lines, gathered.lines),
    )


def _joined(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    joined = dict(second)
    for key, value in first.items():
        other = joined.get(key)
        if isinstance(value, list) and isinstance(other, list):
            joined[key] = [*value, *(v for v in other if v not in value)]
        elif isinstance(value, dict) and isinstance(other, dict):
            joined[key] = {**other, **value}
        else:
            joined[key] = value
    return joined
