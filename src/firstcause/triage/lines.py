"""Lines of a text as they are read: without control codes and prefixes, with who wrote them and where they stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from firstcause.triage.expressions import expression
from firstcause.triage.prefixes import NOBODY, Origin, stripped, unwrapped

# A progress bar writes one line thousands of times over.
REDRAWS = 40
# Two blank lines end whatever stood before them; more say nothing.
BLANK = 3

_CODES = expression(
    r"\x1b\[[0-?]{0,40}[ -/]{0,8}[@-~]|\x1b\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)?|\x1b[ -/]{0,4}[0-~]"
    # Copied from a terminal, the escape is lost and the rest of its code stays.
    r"|\[(?:0|3[0-7]|4[0-7]|9[0-7]|[01];\d{1,2}(?:;\d{1,2})?|38;5;\d{1,3})m|\[1m(?!\d)"
)
# Line breaks of other alphabets among them: one of them in a message must not break it.
_CONTROL = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127, *range(128, 160), 8203, 65279))
# What turns the direction of writing hides what a line says.
_CONTROL |= dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xD800, 0xE000)), None)
_CONTROL |= dict.fromkeys((133, 160, 8232, 8233), " ")


class Line(NamedTuple):
    """A line: its number in the text, its text without prefixes, who wrote it, and how it stood there."""

    number: int
    text: str
    origin: Origin
    raw: str


def cleaned(text: str) -> str:
    """Text without control codes; tabs and line breaks stay."""
    if "\x1b" in text or "m" in text:
        text = _CODES.sub("", text)
    return text if text.isascii() and text.isprintable() else text.translate(_CONTROL)


def lines_of(data: bytes, first: int, rank: int | None = None) -> Iterator[Line]:
    """The lines of a piece of text whose first line has the number ``first``; ``rank`` is that of its file."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    blank = 0
    for number, whole in enumerate(text.split("\n"), first):
        blank = 0 if whole else blank + 1
        if blank > BLANK:
            continue
        for raw in _drawn(whole):
            yield from _read(number, cleaned(raw), rank)


def _drawn(line: str) -> Iterable[str]:
    if "\r" not in line:
        return (line,)
    parts = [part for part in line.split("\r") if part.strip()] or [""]
    return parts if len(parts) <= REDRAWS else parts[: REDRAWS // 4] + parts[-REDRAWS:]


def _read(number: int, raw: str, rank: int | None) -> Iterator[Line]:
    inside = unwrapped(raw)
    for text, own_rank in inside if inside is not None else ((raw, None),):
        rest, origin = stripped(cleaned(text) if inside is not None else text)
        known = origin.rank if origin.rank is not None else own_rank if own_rank is not None else rank
        if known is not None and origin.rank is None:
            stream = f"{origin.stream} rank {known}".strip()
            origin = Origin(
                known, origin.pid, stream, origin.time, origin.logged or inside is not None, origin.tp_rank
            )
        elif inside is not None and origin is NOBODY:
            origin = Origin(logged=True)
        yield Line(number, rest, origin, raw)
