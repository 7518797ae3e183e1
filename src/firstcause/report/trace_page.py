"""What a user's own trace shows and does not show, as a person reads it at a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from firstcause.record.traces import Trace
from firstcause.report.frame import body, columns, heading, title
from firstcause.report.plain import one_line
from firstcause.report.style import Style, style_on


def render_trace(trace: Trace, out: TextIO, color: bool = False, width: int = 80) -> None:
    """Write the figures, the class that they point at, and what is lacking."""
    style = style_on(out, color, width)
    out.writelines(line.rstrip() + "\n" for line in _page(trace, style))


def _page(trace: Trace, style: Style) -> Iterator[str]:
    yield from title(trace.kind, "read, not run", "yellow", style)
    yield from columns([(name, one_line(text)) for name, text in trace.figures], style)
    yield from heading("It points at", style)
    yield from body(
        f"{trace.points_at}; a sign, and no proof"
        if trace.points_at
        else "none of the classes: no figure stands out",
        style,
    )
    yield from heading("It does not show", style)
    for text in trace.lacking:
        yield from body(one_line(text), style)
