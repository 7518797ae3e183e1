"""What was understood of a brief: each wish with its sentence, what follows from it, and what contradicts itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from firstcause.report.frame import body, heading
from firstcause.report.plain import plain
from firstcause.report.style import Style
from firstcause.schema.instruction import Instruction

_RELATIONS = {"eq": "", "max": "at most ", "min": "at least ", "approx": "about "}


def brief_page(
    instructions: Sequence[Instruction], contradictions: Sequence[str], style: Style
) -> Iterator[str]:
    """The lines of the page: what is asked for, what was withdrawn, what follows, what cannot all hold."""
    parts = (
        (
            "Asked For",
            [i for i in instructions if i.status == "active" and i.polarity == "require" and not i.derived],
        ),
        ("Not Wanted", [i for i in instructions if i.status == "active" and i.polarity == "forbid"]),
        ("Withdrawn", [i for i in instructions if i.status == "superseded"]),
        ("Follows By Arithmetic", [i for i in instructions if i.derived]),
    )
    for name, entries in parts:
        if entries:
            yield from heading(name, style)
            yield from (_line(entry, style) for entry in entries)
    if contradictions:
        yield from heading("Cannot All Hold", style)
        yield from body("\n".join(f"- {plain(text)}" for text in contradictions), style)
    if not instructions:
        yield 'No wish for a training or an inference was found: a value counts where its sentence names it, as in "lr 2e-4".'


def _line(entry: Instruction, style: Style) -> str:
    value = f"{_RELATIONS[entry.relation]}{shown(entry.value)}"
    notes = ", ".join(
        n
        for n in (
            entry.scope.replace("_", " "),
            entry.strength if entry.strength != "must" else "",
            plain(entry.condition),
        )
        if n
    )
    sentence = plain(entry.sentence if len(entry.sentence) <= 90 else f"{entry.sentence[:89]}…")
    head = f"  {entry.key:<24} {plain(value)}{f' ({notes})' if notes else ''}"
    return f"{style.bold(head)}\n    {style.dim(f'{plain(entry.origin)}, line {entry.line}: {sentence}')}"


def shown(value: Any) -> str:
    """A value as one writes it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
