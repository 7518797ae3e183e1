"""A check's report for CI: GitHub's workflow commands, and Markdown for a comment or a job's summary."""

from __future__ import annotations

from firstcause.check.report import Report
from firstcause.report.check_sarif import level
from firstcause.report.check_sections import actions, sections, summary, value_of
from firstcause.report.plain import one_line
from firstcause.schema.finding import Finding

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def github(report: Report) -> str:
    """``::error file=…,line=…,title=…::message`` for each finding, and a notice that counts them."""
    lines = [_command(f) for f in report.findings]
    lines += [f"::warning title=firstcause::{_data(n)}" for n in report.notes]
    return "\n".join([*lines, f"::notice title=firstcause::{_data(summary(report))}"])


def _command(finding: Finding) -> str:
    where = f"file={_property(finding.site.file)},line={finding.site.line}"
    if finding.end_line > finding.site.line:
        where += f",endLine={finding.end_line}"
    return f"::{_COMMANDS[level(finding)]} {where},title={_property(finding.slug)}::{_data(finding.message)}"


def _data(text: str) -> str:
    """A command's text: what ends a line would begin another command."""
    return one_line(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def markdown(report: Report) -> str:
    """The report's sections as tables."""
    found = sections(report)
    blocks = [f"## firstcause check\n\n{_cell(summary(report))}"]
    for title, findings in (
        ("Critical", found.critical),
        ("Not as asked", found.deviations),
        ("Not as asked, with a reason in the code", found.justified),
        ("Assumptions to confirm", found.assumptions),
        ("Overengineering", found.overengineering),
        ("Warnings", found.warnings),
        ("Suggestions", found.suggestions),
    ):
        if findings:
            rows = [f"| {_cell(str(f.site))} | {_cell(f.slug)} | {_cell(f.message)} |" for f in findings]
            blocks.append(
                "\n".join([f"### {title}", "", "| where | rule | what |", "| --- | --- | --- |", *rows])
            )
    if found.matches:
        blocks.append(
            "### As asked\n\n" + "\n".join(f"- {_cell(f'{i.key} = {value_of(i)}')}" for i in found.matches)
        )
    if found.unseen:
        rest = "\n".join(f"- {_cell(f'{i.key} = {value_of(i)}')}" for i in found.unseen)
        blocks.append(f"### Asked for, and set nowhere in the code\n\n{rest}")
    todo = actions(report)
    if todo:
        blocks.append("### Next\n\n" + "\n".join(f"{n}. {_cell(text)}" for n, text in enumerate(todo, 1)))
    return "\n\n".join([*blocks, *(_cell(n) for n in report.notes)])


def _cell(text: str) -> str:
    """Text that stays text: no markup, no mention, no end of its cell."""
    safe = one_line(text)
    for sign in "\\`*_|[]<>#@~":
        safe = safe.replace(sign, f"&#{ord(sign)};" if sign in "<>@" else f"\\{sign}")
    return safe
