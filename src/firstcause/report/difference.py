"""Two runs beside each other as a person reads them, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TextIO

from firstcause.record.compare import Change, Comparison
from firstcause.report.frame import body, columns, heading, title
from firstcause.report.plain import one_line, visible
from firstcause.report.style import Style, style_on
from firstcause.schema import to_plain

TITLES = {
    "arguments": "Arguments",
    "code": "Code",
    "versions": "Versions",
    "git": "Git",
    "environment": "Environment",
    "seed": "Seed",
    "data": "Data Of The First Step",
    "losses": "Where The Losses Part",
    "end": "How They Ended",
}


def difference_to_json(comparison: Comparison) -> dict[str, Any]:
    """The comparison as JSON-ready values; numbers that JSON lacks stand as "nan", "inf" and "-inf"."""
    plain: dict[str, Any] = to_plain(comparison)
    return plain


def render_difference(comparison: Comparison, out: TextIO, color: bool = False, width: int = 80) -> None:
    """Write what differs by group, then what is the same and what could not be compared."""
    style = style_on(out, color, width)
    out.writelines(line.rstrip() + "\n" for line in _page(comparison, style))


def _page(comparison: Comparison, style: Style) -> Iterator[str]:
    count = len(comparison.changes)
    status = f"{count} difference{'s' if count != 1 else ''}" if count else "no difference"
    arrow = style.glyph("→", "->")
    yield from title(
        f"{comparison.before} {arrow} {comparison.after}", status, "yellow" if count else "green", style
    )
    for group, name in TITLES.items():
        changes = [c for c in comparison.changes if c.group == group]
        if not changes:
            continue
        yield from heading(name, style)
        for change in changes:
            yield from _change(change, arrow, style)
    if comparison.same:
        yield from heading("The Same", style)
        yield from body(", ".join(comparison.same), style)
    if comparison.unknown:
        yield from heading("Not Compared", style)
        yield from columns(list(comparison.unknown.items()), style)


def _change(change: Change, arrow: str, style: Style) -> Iterator[str]:
    if change.group == "code":
        kind = "added" if change.before is None else "removed" if change.after is None else "changed"
        yield from columns(
            [(one_line(change.name), f"{kind}; {change.note}" if change.note else kind)], style
        )
        yield from (_diff_line(line, style) for line in change.diff.split("\n")[2:] if change.diff)
        return
    text = f"{_value(change.before)} {arrow} {_value(change.after)}"
    yield from columns([(one_line(change.name), f"{text}; {change.note}" if change.note else text)], style)


def _diff_line(line: str, style: Style) -> str:
    paint = {"+": style.green, "-": style.red}.get(line[:1], style.dim)
    return "    " + paint(visible(line))


def _value(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, list):
        return one_line(" ".join(map(str, value))) or "none"
    if isinstance(value, dict):
        shape = "x".join(map(str, value.get("shape", []))) or "scalar"
        figures = [f"{k} {value[k]:.6g}" for k in ("mean", "std") if k in value]
        bad = [f"{value['not_finite']} not finite"] if value.get("not_finite") else []
        return ", ".join([f"{value.get('dtype')} {shape}", *figures, *bad])
    return one_line(str(value))
