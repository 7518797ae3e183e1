"""A value's way through a step, as a person reads it at a terminal: a row for each step of the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, TextIO

from firstcause.lab.expression.asked import Way
from firstcause.record.folder import relative
from firstcause.report.frame import body, columns, title
from firstcause.report.plain import one_line
from firstcause.report.style import Style, style_on

# Of rows that one line makes again and again, the first ones and the last.
SHOWN = 3

Row = dict[str, Any]


def render_way(way: Way, out: TextIO, cwd: str, color: bool = False, width: int = 80) -> None:
    """Write where the value comes from, where it changes and who takes it."""
    style = style_on(out, color, width)
    out.writelines(line.rstrip() + "\n" for line in _page(way, cwd, style))


def _page(way: Way, cwd: str, style: Style) -> Iterator[str]:
    status = "from the start" if way.exact is None else "replayed exactly" if way.exact else "not exact"
    yield from title(
        f"trace of {way.expression} in step {way.step}",
        status,
        "yellow" if way.exact is False else "green",
        style,
    )
    if way.exact is False:
        yield from body(f"The step did not repeat exactly: {way.why}", style)
    if len(way.functions) > 1:
        names = ", ".join(way.functions)
        yield from body(
            f"{way.expression} is met in {names}; FILE:LINE:{way.expression} follows it in one.", style
        )
    yield from columns(
        [(_place(r, cwd), f"{_how(r)}: {told(r['value'])}") for r in _shortened(way.rows)], style
    )
    first = next((r for r in way.rows if _bad(r["value"])), None)
    yield ""
    if first is not None:
        yield from body(
            f"The first value on this way that is not finite: {first['how']} at {_place(first, cwd)}.", style
        )
    if way.left_out:
        yield from body(f"{way.left_out} later rows were left out.", style)


def _shortened(rows: Sequence[Row]) -> Iterator[Row]:
    """The rows, without the middle of what one line does again and again in the same form."""
    for _, group in groupby(rows, key=_form):
        alike = list(group)
        if len(alike) <= SHOWN + 2:
            yield from alike
            continue
        yield from alike[:SHOWN]
        yield alike[SHOWN] | {"more": len(alike) - SHOWN - 2}
        yield alike[-1]


def _form(row: Row) -> tuple[Any, ...]:
    value, site = row["value"], row["site"] or {}
    if row["kind"] == "call":
        return (row["kind"], site.get("line"), _bad(value))
    return (
        row["kind"],
        row["how"],
        site.get("line"),
        value.get("dtype"),
        str(value.get("shape")),
        _bad(value),
    )


def _how(row: Row) -> str:
    more = f" ({row['more']} more alike)" if "more" in row else ""
    if row["kind"] == "call":
        return f"{'taken by ' if row['takes'] else ''}{row['how']}{more}"
    made = f", made by {row['op']}" if row.get("op") else ""
    return f"{row['how']}{made}{more}"


def _place(row: Row, cwd: str) -> str:
    site = row["site"]
    if site is None:
        return "-"
    return one_line(f"{relative(site['file'], cwd)}:{site['line']}")


def _bad(value: Row) -> bool:
    return any(value.get(k) for k in ("nan", "inf", "-inf"))


def told(value: Row) -> str:
    """A value in one line: dtype, shape, device, range, and how many of it are not finite."""
    if "shape" not in value:
        held = "; ".join(told(v) for v in value.get("held") or ())
        return (
            f"{value['type']} of {value['length']}{': ' + held if held else ''}"
            if "length" in value
            else (f"{value['type']} {one_line(str(value.get('text', '')))}")
        )
    words = [f"{value.get('type', '')} {value['dtype']} {value['shape']}".strip(), value.get("device", "")]
    if "min" in value:
        words.append(f"{float(value['min']):.4g} to {float(value['max']):.4g}")
    words += [f"{value[k]} {k}" for k in ("nan", "inf", "-inf") if value.get(k)]
    return ", ".join(w for w in words if w)
