"""A check's report in its sections and in their order; every format but the flat ones is made of these."""

from __future__ import annotations

from dataclasses import dataclass

from firstcause.check.report import Report
from firstcause.schema.finding import Finding
from firstcause.schema.instruction import Instruction


@dataclass(frozen=True)
class Sections:
    """What fails, what is as asked and what is not, what nobody asked for, what could be better, and what was not found."""

    critical: tuple[Finding, ...]
    matches: tuple[Instruction, ...]
    deviations: tuple[Finding, ...]
    justified: tuple[Finding, ...]
    assumptions: tuple[Finding, ...]
    overengineering: tuple[Finding, ...]
    warnings: tuple[Finding, ...]
    suggestions: tuple[Finding, ...]
    unseen: tuple[Instruction, ...]


def sections(report: Report) -> Sections:
    """The report's findings by section; ``unseen`` are instructions of which the code shows nothing."""
    matched = set(report.matches)
    told = {f.key for f in report.findings if f.key}
    active = [i for i in report.instructions if i.status == "active" and not i.derived]
    return Sections(
        _of(report, "critical"),
        tuple({i.key: i for i in active if i.key in matched}.values()),
        tuple(f for f in _of(report, "deviation") if not f.justified),
        tuple(f for f in _of(report, "deviation") if f.justified),
        _of(report, "assumption"),
        _of(report, "overengineering"),
        _of(report, "warning"),
        _of(report, "suggestion"),
        tuple(i for i in active if i.key not in matched | told),
    )


def _of(report: Report, category: str) -> tuple[Finding, ...]:
    return tuple(f for f in report.findings if f.category == category)


def summary(report: Report) -> str:
    """How many of each kind, in one line."""
    found = sections(report)
    counts = (
        (len(found.critical), "critical", "critical"),
        (len(found.deviations), "deviation", "deviations"),
        (len(found.assumptions), "assumption to confirm", "assumptions to confirm"),
        (len(found.overengineering), "overengineered", "overengineered"),
        (len(found.warnings), "warning", "warnings"),
        (len(found.suggestions), "suggestion", "suggestions"),
    )
    said = [f"{n} {one if n == 1 else many}" for n, one, many in counts if n]
    files = f"{report.files} file{'' if report.files == 1 else 's'}"
    return f"{files}: {', '.join(said) if said else 'nothing to report'}"


def actions(report: Report) -> list[str]:
    """What to do next, the first thing first."""
    found = sections(report)
    said = [f"correct {f.site}: {f.slug}" for f in found.critical]
    said += [
        f"set {f.argument or f.key} at {f.site} to {f.asked or 'what was asked'}" for f in found.deviations
    ]
    said += [f"confirm {f.key} = {f.got}: firstcause check --confirm {f.key} …" for f in found.assumptions]
    return said


def value_of(instruction: Instruction) -> str:
    """An instruction's value as it is read: a list by commas."""
    value = instruction.value
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
