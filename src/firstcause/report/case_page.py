"""A case, and a list of cases, as a person reads them at a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from firstcause.case import LETTERS, LIMIT, MEANING, Attempt, Progress, class_of, counsel, describe
from firstcause.report.frame import body, columns, heading, next_line, title
from firstcause.report.plain import cells, cropped, one_line, padded
from firstcause.report.style import Style, style_on

_COLORS = {"verified": "green", "closed": "green", "stopped": "red"}


def render_case(
    progress: Progress,
    out: TextIO,
    color: bool = False,
    width: int = 80,
    next_command: str = "",
    probes: Sequence[tuple[str, str]] = (),
) -> None:
    """Write where a case stands: its run, approval, attempts with their lessons, probes, and the next command.

    ``probes`` are the paths of its probe scripts with what each measures.
    """
    style = style_on(out, color, width)
    out.writelines(line.rstrip() + "\n" for line in _case(progress, style, next_command, probes))


def _case(
    progress: Progress, style: Style, next_command: str, probes: Sequence[tuple[str, str]]
) -> Iterator[str]:
    case = progress.case
    yield from title(f"case {case.id}", case.state, _COLORS.get(case.state, "yellow"), style)
    rows = [
        ("run", case.run or "none yet: it began with a text"),
        ("opened", case.opened),
        ("updated", progress.updated),
    ]
    rows += [("cause", _cause(progress))]
    if case.diagnosis and case.diagnosis.cause:
        kind = class_of(case.diagnosis)
        rows += [("class", f"{LETTERS[kind]} {kind}: {MEANING[kind]}")]
    if progress.approval:
        rows += [("approved", f"by {progress.approval.by}, {progress.approval.time}")]
    if progress.failed:
        rows += [("strikes", f"{case.strikes} of {LIMIT}")]
    if progress.recovered:
        rows += [("set aside", f"{progress.recovered} bytes of a line that was being written at a crash")]
    rows += [("lesson", progress.lesson)] if progress.lesson else []
    yield from columns([(name, one_line(text)) for name, text in rows], style)
    if len(progress.symptoms) > 1:
        yield from heading("Symptoms, The Worst First", style)
        yield from columns([(t.outcome, describe(t.symptom)) for t in progress.symptoms], style)
    if progress.inherited:
        yield from heading("Failed In Earlier Cases", style)
        for number, attempt in enumerate(progress.inherited, 1):
            yield from _attempt(number, attempt, style)
    if progress.attempts:
        yield from heading("Attempts", style)
        for number, attempt in enumerate(progress.attempts, 1):
            yield from _attempt(number, attempt, style)
    yield from _answers(progress, style)
    remarks_of = {
        "Not Approved": progress.declined,
        "Rejections": progress.rejections,
        "Tries In A Copy": progress.tries,
    }
    for name, remarks in remarks_of.items():
        if remarks:
            yield from heading(name, style)
            yield from columns([(one_line(remark.by), remark.text) for remark in remarks], style)
    if probes:
        yield from heading("Probes", style)
        end = style.glyph("…", "...")
        for path, text in probes:
            yield "  python " + cropped(one_line(path), style.width - 9, end)
            yield "      " + style.dim(cropped(one_line(text), style.width - 6, end))
    advice = counsel(progress)
    if case.state == "stopped":
        yield from heading("Stopped After Three Strikes", style)
        yield from body("\n".join(advice), style)
    elif advice and case.state == "hypotheses":
        yield from heading("What The Last Strike Asks For", style)
        yield from body("\n".join(advice), style)
    yield from next_line(next_command, style)


def _cause(progress: Progress) -> str:
    diagnosis = progress.case.diagnosis
    if diagnosis is None or diagnosis.cause is None:
        return "not established"
    return f"{diagnosis.cause} at {diagnosis.site}" if diagnosis.site else diagnosis.cause


def _answers(progress: Progress, style: Style) -> Iterator[str]:
    """What was asked of the person who approved the fix in hand, and what they answered."""
    given = progress.approval or next((a.approval for a in reversed(progress.attempts) if a.approval), None)
    if given is None or not given.asked:
        return
    yield from heading("Asked And Answered", style)
    rows = [(given.answers.get(key, ""), one_line(asked)) for key, asked in given.asked.items()]
    yield from columns(rows, style)


def _attempt(number: int, attempt: Attempt, style: Style) -> Iterator[str]:
    marks = {True: ("✓", "+", "green"), False: ("✗", "x", "red"), None: ("·", ".", "yellow")}
    glyph, ascii_form, color = marks[attempt.passed]
    mark = getattr(style, color)(style.glyph(glyph, ascii_form))
    summary = one_line(attempt.summary)
    yield f"  {number} {mark} {style.bold(one_line(attempt.approach.cause))}  {style.dim(attempt.time)}"
    yield from body(summary, style, 6)
    yield from body(attempt.lesson, style, 6) if attempt.lesson else ()


def render_cases(
    cases: Sequence[tuple[str, Progress | str]], out: TextIO, color: bool = False, width: int = 80
) -> None:
    """Write one row a case, oldest first: id, state, cause; for a damaged one, what is wrong with it."""
    style = style_on(out, color, width)
    longest = max((cells(name) for name, _ in cases), default=0)
    end = style.glyph("…", "...")
    for name, progress in cases:
        if isinstance(progress, str):
            state, text, paint = "damaged", progress, "red"
        else:
            state, text = progress.case.state, _cause(progress)
            paint = _COLORS.get(state, "yellow")
        painted = getattr(style, paint)(f"{state:<13}")
        shown = cropped(one_line(text), style.width - longest - 17, end)
        out.write(f"{padded(name, longest)}  {painted}  {shown}".rstrip() + "\n")
