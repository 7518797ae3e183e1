"""Instructions against facts: what is as asked, what deviates, what the code assumed."""

from __future__ import annotations

from collections.abc import Sequence

from firstcause.check.code import Code
from firstcause.check.compliance.assumptions import assumptions
from firstcause.check.compliance.compare import Compared, compare
from firstcause.check.facts import facts
from firstcause.schema.instruction import Instruction

__all__ = ["Compared", "comply"]


def comply(code: Code, instructions: Sequence[Instruction]) -> Compared:
    """What the code does of what was asked; nothing at all where nothing was asked."""
    if not instructions:
        return Compared((), ())
    known = facts(code)
    compared = compare(instructions, known)
    return Compared((*compared.findings, *assumptions(instructions, known)), compared.matches)
