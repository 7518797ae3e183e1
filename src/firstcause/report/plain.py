"""Foreign text made safe and fitted for a terminal: no control codes, wrapped and cropped by columns."""

from __future__ import annotations

import re
import unicodedata

# Each alternative stops at the next escape, so that the search stays linear in the text's length.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]?|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.?|\x9b[0-?]*[@-~]?"
)
# C0 and C1 but for tab and newline, and the marks that reverse the order in which text is shown.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    """The text without escape sequences, control codes and direction marks; tabs and newlines stay."""
    return _CONTROLS.sub("", _ESCAPES.sub("", text)).encode("utf-8", "replace").decode()


def visible(text: str) -> str:
    """The text with every control code and direction mark spelt out: what a person approves, nothing hidden."""
    spelt = _CONTROLS.sub(lambda match: match.group().encode("unicode_escape").decode(), text)
    return spelt.encode("utf-8", "backslashreplace").decode().expandtabs(4)


def plain(text: str) -> str:
    """The text made harmless, its tabs as spaces."""
    return harmless(text).expandtabs(4)


def one_line(text: str) -> str:
    """The text made plain, on one line."""
    return " ".join(plain(text).split())


def without_traceback(text: str) -> str:
    """A message that quotes a worker's or another rank's traceback, with that one's last line in its place."""
    before, quoted, traceback = text.partition("Traceback (most recent call last):")
    said = [line for line in traceback.splitlines() if line.strip()]
    return f"{before}{said[-1].strip()}" if quoted and said else text


def cells(text: str) -> int:
    """How many columns a terminal gives the text."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def padded(text: str, width: int) -> str:
    """The text filled with spaces up to ``width`` columns."""
    return text + " " * (width - cells(text))


def cropped(text: str, width: int, end: str = "…") -> str:
    """The text cut to ``width`` columns, ``end`` in place of what was cut."""
    if cells(text) <= width:
        return text
    kept = text
    while kept and cells(kept) + cells(end) > width:
        kept = kept[:-1]
    return kept.rstrip() + end


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines of at most ``width`` columns; a longer word stays whole, an indent is repeated."""
    lines: list[str] = []
    for paragraph in plain(text).strip("\n").split("\n"):
        indent = paragraph[: len(paragraph) - len(paragraph.lstrip())]
        hanging = indent + ("  " if paragraph.lstrip().startswith(("- ", "* ")) else "")
        line = ""
        for word in paragraph.split():
            lead = indent if not line else line + " "
            if line.strip() and cells(lead) + cells(word) > width:
                lines.append(line)
                lead = hanging
            line = lead + word
        lines.append(line)
    return lines
