"""Leave out one call: give its result as a tensor, or one of its own inputs in its place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from firstcause.minimize.program import Program
from firstcause.minimize.reductions.later_start import values_before

# Shorter stretches are taken call by call.
LEAST = 4


def fewer_calls(program: Program) -> Iterator[Program]:
    yield from _stretches(program)
    for at in reversed(range(len(program.calls) - 1)):
        call = program.calls[at]
        rest = program.calls[:at] + program.calls[at + 1 :]
        made = {n for n in call.outputs if n is not None}
        used = made & {n for other in program.calls[at + 1 :] for n in other.inputs()}
        if not used:
            yield replace(program, calls=rest)
            continue
        for number in dict.fromkeys(call.inputs()):
            if len(used) == 1 and number not in used:
                names = {next(iter(used)): number}
                later = tuple(other.renamed(names) for other in program.calls[at + 1 :])
                yield replace(program, calls=program.calls[:at] + later)
        values = values_before(program, at + 1, used)
        if values is not None:
            yield replace(program, leaves={**program.leaves, **values}, calls=rest)


def _stretches(program: Program) -> Iterator[Program]:
    """Without many calls in a row at once: what they made for others is given."""
    last = len(program.calls) - 1
    width = last // 2
    while width >= LEAST:
        for at in range(last - width, -1, -width):
            gone = program.calls[at : at + width]
            made = {n for call in gone for n in call.outputs if n is not None}
            used = made & {n for other in program.calls[at + width :] for n in other.inputs()}
            values = values_before(program, at + width, used)
            if values is not None:
                calls = program.calls[:at] + program.calls[at + width :]
                yield replace(program, leaves={**program.leaves, **values}, calls=calls)
        width //= 2
