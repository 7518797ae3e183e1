"""What works and what does not, one line each, as a person reads it at a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TextIO

from firstcause.report.plain import cells, one_line, padded
from firstcause.report.style import Style, style_on

_MARKS = {"works": ("✓", "ok", "green"), "limited": ("○", "..", "yellow"), "missing": ("✗", "no", "red")}


class Check(Protocol):
    """One thing that was tried."""

    @property
    def name(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def hint(self) -> str: ...


def render_checks(checks: Sequence[Check], out: TextIO, color: bool = False, width: int = 80) -> None:
    """Write one line a check, what to do included; a line is as long as it must be, for ``grep``."""
    style = style_on(out, color, width)
    names = max(cells(one.name) for one in checks) + 2
    out.writelines(_line(one, names, style) + "\n" for one in checks)


def _line(one: Check, names: int, style: Style) -> str:
    glyph, ascii_form, color = _MARKS[one.status]
    mark = getattr(style, color)(style.glyph(glyph, ascii_form))
    hint = style.dim(f"; {one_line(one.hint)}") if one.hint else ""
    return f"{mark} {padded(one.name, names)}{one_line(one.text)}{hint}"
