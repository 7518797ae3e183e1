"""A check's report for a terminal: in sections, or in a line a finding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firstcause.check.report import Report
from firstcause.report.check_sections import actions, sections, summary, value_of
from firstcause.report.plain import cropped, one_line, wrapped
from firstcause.report.style import Style
from firstcause.schema.finding import Finding

# More actions than anybody takes in one go.
MAX_ACTIONS = 8


def concise(report: Report) -> str:
    """``file:line: category slug: message`` for each finding, and a last line that counts them."""
    lines = [f"{f.site.file}:{f.site.line}: {f.category} {f.slug}: {f.message}" for f in report.findings]
    count = f"{len(report.findings)} findings, {len(report.errors)} of them errors, in {report.files} files"
    return "\n".join([*(one_line(line) for line in (*lines, *report.notes)), count])


def terminal(report: Report, style: Style) -> str:
    """The report in the order: what fails, what is as asked, what nobody asked for, advice, and what to do next."""
    found = sections(report)
    lines: list[str] = []
    lines += _section("Critical", found.critical, style, "red")
    lines += _compliance(report, style)
    lines += _section("Overengineering", found.overengineering, style, "yellow")
    lines += _section("Warnings", found.warnings, style, "yellow")
    lines += _section("Suggestions", found.suggestions, style, "cyan")
    if found.unseen:
        lines += [style.bold("Brief"), ""]
        for instruction in found.unseen:
            said = f"{instruction.key} = {value_of(instruction)}: nothing in the code sets it"
            lines += ["  " + line for line in wrapped(one_line(said), style.width - 2)]
        lines.append("")
    lines += [one_line(note) for note in report.notes]
    lines.append(style.bold(one_line(summary(report))))
    todo = actions(report)
    lines += [f"  {n}. {one_line(text)}" for n, text in enumerate(todo[:MAX_ACTIONS], 1)]
    if len(todo) > MAX_ACTIONS:
        lines.append(f"  and {len(todo) - MAX_ACTIONS} more")
    return "\n".join(lines)


def _compliance(report: Report, style: Style) -> list[str]:
    found = sections(report)
    lines: list[str] = []
    if found.matches:
        lines += [style.bold("As asked"), ""]
        mark = style.green(style.glyph("✓", "+"))
        lines += [f"  {mark} {one_line(f'{i.key} = {value_of(i)}')}" for i in found.matches]
        lines.append("")
    lines += _section("Not as asked", found.deviations, style, "red")
    lines += _section("Not as asked, with a reason in the code", found.justified, style, "cyan")
    lines += _section("Assumptions to confirm", found.assumptions, style, "yellow")
    return lines


def _section(title: str, findings: Sequence[Finding], style: Style, color: str) -> list[str]:
    if not findings:
        return []
    lines = [style.bold(title), ""]
    for finding in findings:
        lines += [*_finding(finding, style, color), ""]
    return lines


def _finding(finding: Finding, style: Style, color: str) -> Iterator[str]:
    slug = getattr(style, color)(one_line(finding.slug))
    place = one_line(str(finding.site))
    if finding.cell:
        place += f" (cell {finding.cell}, line {finding.cell_line})"
    yield f"  {slug}  {place}"
    if finding.site.text:
        yield style.dim(f"    {cropped(one_line(finding.site.text), style.width - 4)}")
    yield from ("    " + line for line in wrapped(one_line(finding.message), style.width - 4))
    if finding.asked or finding.got:
        yield f"    asked: {one_line(finding.asked) or '-'}   got: {one_line(finding.got) or '-'}"
    for site in finding.related:
        yield style.dim(f"    see {one_line(str(site))}")
