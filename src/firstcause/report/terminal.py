"""A diagnosis and the end of a run as a person reads them at a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TextIO

from firstcause.report.frame import body, columns, heading, next_line, title
from firstcause.report.hypotheses import hypothesis_lines
from firstcause.report.plain import one_line, without_traceback
from firstcause.report.source_lines import excerpt, patch_lines
from firstcause.report.style import Style, style_on
from firstcause.schema import SECTIONS, Diagnosis, Run, Symptom

_STATUS = {
    "established": ("established", "green"),
    "not-established": ("cause not established", "yellow"),
    "healthy": ("healthy", "green"),
}


def render_diagnosis(
    diagnosis: Diagnosis,
    out: TextIO,
    color: bool = False,
    width: int = 80,
    source: Sequence[str] | None = None,
    next_command: str = "",
) -> None:
    """Write a diagnosis: its sections, the line in question, the hypotheses, the next command.

    ``source`` is the text of the site's file in lines, without it no excerpt is shown.
    """
    style = style_on(out, color, width)
    out.writelines(line.rstrip() + "\n" for line in _diagnosis(diagnosis, style, source, next_command))


def _diagnosis(
    diagnosis: Diagnosis, style: Style, source: Sequence[str] | None, next_command: str
) -> Iterator[str]:
    yield from title(_name(diagnosis), *_STATUS[diagnosis.status], style)
    for section in SECTIONS:
        text = diagnosis.sections.get(section, "")
        if not text.strip():
            continue
        yield from heading(section, style)
        yield from body(text, style)
        if section == "Root Cause" and diagnosis.site:
            yield from excerpt(diagnosis.site, source, style)
        if section == "Proposed Fix" and diagnosis.fix and "@@" not in text:
            yield from patch_lines(diagnosis.fix.diff, style)
    if diagnosis.hypotheses:
        yield from heading("Hypotheses", style)
        yield from hypothesis_lines(diagnosis.hypotheses, style)
    if diagnosis.missing:
        yield from heading("Missing Evidence", style)
        yield from body(diagnosis.missing, style)
    yield from next_line(next_command, style)


def _name(diagnosis: Diagnosis) -> str:
    if diagnosis.cause is not None:
        return f"{diagnosis.cause} at {diagnosis.site}" if diagnosis.site else diagnosis.cause
    return diagnosis.symptom.message if diagnosis.symptom else "no failure seen"


def render_run_summary(run: Run, out: TextIO, path: str, color: bool = False, width: int = 80) -> None:
    """Write how a run ended, what was seen, the ``path`` of its record, and the next command."""
    style = style_on(out, color, width)
    out.writelines(line.rstrip() + "\n" for line in _run(run, path, style))


def _run(run: Run, path: str, style: Style) -> Iterator[str]:
    failed = bool(run.symptoms) or run.exit_code not in (0, None) or run.signal is not None
    yield from title(run.id, ending(run), "red" if failed else "green", style)
    rows: list[tuple[str, str]] = [(symptom.kind, seen(symptom)) for symptom in run.symptoms] or [
        ("seen", "no symptom")
    ]
    rows += [("note", one_line(note)) for note in run.notes]
    yield from columns([*rows, ("record", one_line(path))], style)
    yield from next_line(f"firstcause diagnose {shlex.quote(path)}" if run.symptoms else "", style)


def following(run: Run) -> str:
    """The command that looks into a run's symptoms: what was imported has no program that a diagnosis could run."""
    return f"firstcause {'diagnose' if run.command else 'triage'} {run.id}"


def ending(run: Run) -> str:
    """How a run ended, and after how long."""
    if not run.command:
        return "imported"
    if run.signal is not None:
        how = f"ended by signal {run.signal}"
    elif run.exit_code is None:
        how = "not ended"
    else:
        how = f"exit code {run.exit_code}"
    return how + (f" after {run.seconds:.1f} s" if run.seconds is not None else "")


def seen(symptom: Symptom) -> str:
    """A symptom on one line: its message, step, rank and place."""
    facts = [f"step {symptom.step}"] if symptom.step is not None else []
    facts += [f"rank {symptom.rank}"] if symptom.rank else []
    facts += [str(symptom.site)] if symptom.site else []
    said = one_line(without_traceback(symptom.message))
    return f"{said} ({one_line(', '.join(facts))})" if facts else said
