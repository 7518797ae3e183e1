"""A case as Markdown, for an issue or a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from firstcause.case import Progress, next_step
from firstcause.report.hypotheses import decision, ranked
from firstcause.report.plain import harmless, one_line
from firstcause.schema import SECTIONS, Diagnosis


def case_to_markdown(progress: Progress) -> str:
    """The case's state, the six sections, the hypotheses and the failed attempts; markup of others disarmed."""
    return "\n".join(_case(progress)) + "\n"


def _case(progress: Progress) -> Iterator[str]:
    case = progress.case
    yield f"# Case {_text(case.id)}: {case.state}"
    yield ""
    yield f"Run {_text(case.run) or 'none yet'}, opened {_text(case.opened)}, strikes {case.strikes}."
    if case.diagnosis:
        yield from diagnosis_lines(case.diagnosis)
    failed = progress.failed
    if failed:
        yield from (
            "",
            "## Failed attempts",
            "",
            "| when | what was tried | what it taught |",
            "| --- | --- | --- |",
        )
        yield from (_row(a.time, a.summary, a.lesson) for a in failed)
    yield ""
    yield f"Next: `{one_line(next_step(progress))}`"


def diagnosis_lines(diagnosis: Diagnosis) -> Iterator[str]:
    """The diagnosis in lines of Markdown: a heading a section, the diff fenced, a table of hypotheses."""
    for section in SECTIONS:
        text = diagnosis.sections.get(section, "")
        if not text.strip():
            continue
        yield from ("", f"## {section}", "", _text(text.strip()))
        if section == "Proposed Fix" and diagnosis.fix:
            yield from ("", *_fenced(diagnosis.fix.diff))
    if diagnosis.hypotheses:
        yield from (
            "",
            "## Hypotheses",
            "",
            "| rank | cause | status | evidence |",
            "| --- | --- | --- | --- |",
        )
        yield from (_row(str(h.rank), h.cause, h.status, decision(h)) for h in ranked(diagnosis.hypotheses))
    if diagnosis.missing:
        yield from ("", "## Missing evidence", "", _text(diagnosis.missing))


def _text(text: str) -> str:
    return harmless(text).replace("&", "&amp;").replace("<", "&lt;")


def _row(*cells: str) -> str:
    return "| " + " | ".join(_text(one_line(cell)).replace("|", "\\|") for cell in cells) + " |"


def _fenced(diff: str) -> Iterator[str]:
    fence = "```"
    while fence in diff:
        fence += "`"
    yield from (f"{fence}diff", harmless(diff).rstrip("\n"), fence)
