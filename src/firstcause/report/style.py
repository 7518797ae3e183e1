"""How a terminal is written to: colour, width and glyphs, decided once by the caller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO


@dataclass(frozen=True)
class Style:
    """Colour or none, the columns to fill, and whether glyphs beyond ASCII can be shown."""

    color: bool = False
    width: int = 80
    unicode: bool = True

    def bold(self, text: str) -> str:
        return self._in("1", text)

    def dim(self, text: str) -> str:
        return self._in("2", text)

    def red(self, text: str) -> str:
        return self._in("31", text)

    def green(self, text: str) -> str:
        return self._in("32", text)

    def yellow(self, text: str) -> str:
        return self._in("33", text)

    def cyan(self, text: str) -> str:
        return self._in("36", text)

    def glyph(self, glyph: str, ascii_form: str) -> str:
        return glyph if self.unicode else ascii_form

    def _in(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.color and text else text


def style_on(out: TextIO, color: bool, width: int) -> Style:
    """The style for a stream with these wishes; glyphs only where its encoding has them."""
    encoding = getattr(out, "encoding", None) or "utf-8"
    return Style(color, max(60, min(width, 100)), encoding.lower().replace("-", "").startswith("utf"))


def wants_color(environ: Mapping[str, str], isatty: bool) -> bool:
    """Whether to colour: NO_COLOR says no, then FORCE_COLOR yes, then it depends on the terminal."""
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return isatty and environ.get("TERM", "") != "dumb"
