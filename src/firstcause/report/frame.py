"""The parts that every terminal page is made of: title, headings, text, rows, the next command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firstcause.report.plain import cells, cropped, one_line, padded, wrapped
from firstcause.report.style import Style


def title(name: str, status: str, color: str, style: Style) -> Iterator[str]:
    """What the page is about on the left, its status on the right, a rule below."""
    name, end = one_line(name), style.glyph("…", "...")
    name = cropped(name, style.width - cells(status) - 2, end)
    gap = " " * (style.width - cells(name) - cells(status))
    painted = getattr(style, color)(status)
    yield style.bold(name) + gap + style.bold(painted)
    yield style.dim(style.glyph("─", "-") * style.width)


def heading(text: str, style: Style) -> Iterator[str]:
    """A blank line, then the heading of a part."""
    yield ""
    yield style.bold(text)


def body(text: str, style: Style, indent: int = 2) -> Iterator[str]:
    """A part's text, wrapped and indented."""
    for line in wrapped(text, style.width - indent):
        yield " " * indent + line


def columns(rows: Sequence[tuple[str, str]], style: Style) -> Iterator[str]:
    """Rows of a name and a text; the text is wrapped beside its name."""
    width = max(cells(name) for name, _ in rows) + 2
    for name, text in rows:
        first, *rest = wrapped(text, style.width - width - 2)
        yield "  " + style.dim(padded(name, width)) + first
        yield from (" " * (width + 2) + line for line in rest)


def next_line(command: str, style: Style) -> Iterator[str]:
    """The one command to type next."""
    if command:
        yield ""
        yield style.dim("next  ") + style.bold(style.cyan(one_line(command)))
