"""What was recorded, as a person reads it at a terminal and as JSON: one line a run, and one run in full."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TextIO

from firstcause.record.sizes import size
from firstcause.report.frame import columns, heading, next_line, title
from firstcause.report.plain import cells, cropped, one_line, padded
from firstcause.report.style import Style, style_on
from firstcause.report.terminal import ending, following, seen
from firstcause.schema import Run, to_plain


class Listed(Protocol):
    """A run as it stands on disk."""

    @property
    def id(self) -> str: ...
    @property
    def bytes(self) -> int: ...
    @property
    def run(self) -> Run | None: ...
    @property
    def held(self) -> bool: ...
    @property
    def cases(self) -> tuple[str, ...]: ...
    @property
    def problem(self) -> str: ...


def render_runs(runs: Sequence[Listed], out: TextIO, color: bool = False, width: int = 80) -> None:
    """Write one line a run, the oldest first, and their number and size."""
    style = style_on(out, color, width)
    out.writelines(line.rstrip() + "\n" for line in _runs(runs, style))


def _runs(runs: Sequence[Listed], style: Style) -> Iterator[str]:
    if not runs:
        return
    rows = [(one.id, size(one.bytes), _began(one.run), _outcome(one)) for one in runs]
    first, second, third = (max(cells(row[i]) for row in rows) + 2 for i in range(3))
    for one, (name, bytes_, began, outcome) in zip(runs, rows, strict=True):
        head = padded(name, first) + padded(bytes_, second) + style.dim(padded(began, third))
        room = max(20, style.width - first - second - third)
        text = cropped(one_line(outcome), room, style.glyph("…", "..."))
        bad = one.run is None or one.run.symptoms
        yield head + (style.dim(text) if one.held else style.red(text) if bad else style.green(text))
    yield style.dim(f"{len(runs)} runs, {size(sum(one.bytes for one in runs))}")


def render_run(one: Listed, states: Sequence[int], out: TextIO, color: bool = False, width: int = 80) -> None:
    """Write one run in full; ``states`` are the steps whose state can be restored."""
    style = style_on(out, color, width)
    out.writelines(line.rstrip() + "\n" for line in _run(one, states, style))


def _run(one: Listed, states: Sequence[int], style: Style) -> Iterator[str]:
    run = one.run
    if run is None:
        yield from title(one.id, "cannot be read", "red", style)
        yield from columns([("why", one_line(one.problem))], style)
        return
    yield from title(
        run.id, "still recorded" if one.held else ending(run), "red" if run.symptoms else "green", style
    )
    rows = [
        *([("command", one_line(shlex.join(run.command)))] if run.command else []),
        ("folder", one_line(run.folder)),
        ("began", run.started),
        ("size", size(one.bytes)),
    ]
    if run.versions:
        rows.append(("versions", ", ".join(f"{k} {v}" for k, v in run.versions.items())))
    if run.git_revision:
        rows.append(("git", run.git_revision[:12] + (", changed since" if run.git_dirty else "")))
    rows += [("case", case) for case in one.cases]
    if states:
        rows.append(("state", f"held before step {', '.join(map(str, states))}"))
    yield from columns(rows, style)
    yield from heading("Seen", style)
    yield from columns([(s.kind, seen(s)) for s in run.symptoms] or [("seen", "no symptom")], style)
    if run.notes:
        yield from columns([("note", one_line(note)) for note in run.notes], style)
    yield from next_line(following(run) if run.symptoms and not one.cases else "", style)


def row_to_json(one: Listed) -> dict[str, Any]:
    """One line of the list."""
    run = one.run
    return {
        "id": one.id,
        "bytes": one.bytes,
        "recording": one.held,
        "cases": list(one.cases),
        "problem": one.problem,
        "started": run.started if run else None,
        "seconds": run.seconds if run else None,
        "exit_code": run.exit_code if run else None,
        "signal": run.signal if run else None,
        "symptoms": [s.kind for s in run.symptoms] if run else [],
    }


def run_to_json(one: Listed, states: Sequence[int]) -> dict[str, Any]:
    """One run in full."""
    return row_to_json(one) | {"states": list(states), "run": to_plain(one.run) if one.run else None}


def _began(run: Run | None) -> str:
    return run.started[:16].replace("T", " ") if run else "?"


def _outcome(one: Listed) -> str:
    if one.run is None:
        return f"cannot be read: {os.path.basename(one.problem)}"
    if one.held:
        return "still being recorded"
    first = one.run.symptoms[0] if one.run.symptoms else None
    said = f"{first.kind}: {seen(first)}" if first else "no symptom"
    return f"{'case, ' if one.cases else ''}{said} ({ending(one.run)})"
