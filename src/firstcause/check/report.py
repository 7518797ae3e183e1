"""What a check has to say: findings, what is as asked, what was understood, and what went wrong on our side."""

from __future__ import annotations

from dataclasses import dataclass, field

from firstcause.schema.finding import Finding
from firstcause.schema.instruction import Instruction

ERRORS = ("critical", "deviation")


@dataclass(frozen=True)
class Report:
    """The result of a check; ``matches`` are the keys of instructions that the code follows."""

    findings: tuple[Finding, ...]
    matches: tuple[str, ...] = ()
    instructions: tuple[Instruction, ...] = ()
    files: int = 0
    notes: tuple[str, ...] = field(default=())

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that count as errors: critical ones, and deviations without a stated reason."""
        return tuple(f for f in self.findings if f.category in ERRORS and not f.justified)
