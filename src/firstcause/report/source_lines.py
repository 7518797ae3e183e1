"""Source as a person reads it: the line in question between its neighbours, and a patch with line numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firstcause.errors import InputError
from firstcause.fix.patch import Hunk, parse
from firstcause.report.plain import cropped, plain, visible
from firstcause.report.style import Style
from firstcause.schema import Site


def excerpt(site: Site, source: Sequence[str] | None, style: Style) -> Iterator[str]:
    """The line of the site between its neighbours, marked; nothing where the source lacks the line."""
    if not source or not 1 <= site.line <= len(source):
        return
    numbers = range(max(1, site.line - 1), min(len(source), site.line + 1) + 1)
    digits = len(str(numbers[-1]))
    bar, mark = style.glyph("│", "|"), style.glyph("▸", ">")
    yield ""
    for number in numbers:
        here = number == site.line
        text = _fit(source[number - 1], style, digits + 8)
        lead = f"  {mark if here else ' '} {number:>{digits}} {bar} "
        yield (style.bold(style.red(lead)) + style.bold(text)) if here else style.dim(lead + text)


def patch_lines(diff: str, style: Style) -> Iterator[str]:
    """A unified diff by file, its lines numbered as in the file: removed ones by the old, added by the new."""
    try:
        patches = parse(diff)
    except InputError:
        # Not ours to judge here: the gate refuses it, and a person should see what it is.
        yield from ("", *("    " + visible(line) for line in diff.rstrip("\n").split("\n")))
        return
    for patch in patches:
        yield ""
        yield "    " + style.dim(visible(patch.path))
        shift = 0
        for number, hunk in enumerate(patch.hunks):
            if number:
                yield "    " + style.dim(style.glyph("⋮", "..."))
            yield from _hunk(hunk, shift, style)
            shift += sum((line.tag == "+") - (line.tag == "-") for line in hunk.lines)


def _hunk(hunk: Hunk, shift: int, style: Style) -> Iterator[str]:
    old = hunk.start if hunk.count else hunk.start + 1
    new = old + shift
    rows: list[tuple[int, str, str]] = []
    for line in hunk.lines:
        rows.append((new if line.tag == "+" else old, line.tag, line.text))
        old += line.tag != "+"
        new += line.tag != "-"
    # Blank context at either end says nothing.
    while rows and rows[0][1] == " " and not rows[0][2].strip():
        rows.pop(0)
    while rows and rows[-1][1] == " " and not rows[-1][2].strip():
        rows.pop()
    digits = max((len(str(number)) for number, _, _ in rows), default=1)
    bar = style.glyph("│", "|")
    paint = {"+": style.green, "-": style.red, " ": style.dim}
    for number, tag, text in rows:
        # A changed line is shown whole and with nothing hidden: it is what a person approves.
        shown = _fit(text, style, digits + 9) if tag == " " else visible(text.rstrip("\r"))
        lead = style.dim(f"    {number:>{digits}} {bar} ")
        yield lead + paint[tag](f"{tag} {shown}")


def _fit(text: str, style: Style, taken: int) -> str:
    return cropped(plain(text.rstrip("\r\n")), style.width - taken, style.glyph("…", "..."))
