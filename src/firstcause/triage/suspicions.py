"""Three to five causes to be tested, ranked, each with what this text says for it and the command that tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from firstcause.catalog.defects import known_defects
from firstcause.catalog.load import cause, slugs
from firstcause.schema import Cause, Pattern
from firstcause.schema.triage import Suspicion
from firstcause.triage.figures import figures
from firstcause.triage.reading import Reading

MOST = 5
_RECORD = "firstcause run {command}"


def suspicions(
    order: Sequence[str], reading: Reading, known: Mapping[str, Pattern], shown: Mapping[str, str]
) -> tuple[Suspicion, ...]:
    """At most five causes that the patterns lead to, the likeliest first; those that several patterns share come first.

    ``shown`` are the figures that tell of a pattern by themselves.
    """
    told = figures(reading)
    rank: dict[str, float] = {}
    whence: dict[str, str] = {}
    available = set(slugs())
    for place, pattern in enumerate(order):
        for at, slug in enumerate(known[pattern].causes):
            if slug in available:
                rank[slug] = rank.get(slug, 0.0) + 1 / (1 + at + 2 * place)
                whence.setdefault(slug, pattern)
    command = _RECORD.format(command=_command(reading)) + " && firstcause diagnose last"
    best = sorted(rank, key=lambda slug: -rank[slug])[:MOST]
    return tuple(
        _suspicion(cause(slug), known[whence[slug]], shown.get(whence[slug]) or told, command)
        for slug in best
    )


def gathered(order: Sequence[str], known: Mapping[str, Pattern], reading: Reading) -> tuple[str, ...]:
    """The evidence to gather for the patterns in order, the cheapest first, none twice; then what the versions are known for."""
    lines = [line for pattern in order[:2] for line in known[pattern].gather]
    versions = reading.facts.get("versions")
    named = {str(k): str(v) for k, v in versions.items()} if isinstance(versions, dict) else {}
    for defect in known_defects(named) if named else ():
        if set(defect.patterns) & set(order):
            lines.append(
                f"A known defect of {defect.library} {defect.versions}: {defect.title} (firstcause explain {defect.slug})"
            )
    return tuple(dict.fromkeys(lines))


def _suspicion(entry: Cause, pattern: Pattern, told: str, command: str) -> Suspicion:
    why = f"{pattern.title[0].upper()}{pattern.title[1:]}" + (f" ({told})" if told else "")
    return Suspicion(entry.slug, entry.title, why, entry.confirms[0], entry.refutes[0], command)


def _command(reading: Reading) -> str:
    """The program as the traceback names it; the placeholder where none does."""
    for raised in reading.raised:
        for frame in raised.frames:
            if frame.own and frame.function in ("<module>", "") and frame.file.endswith(".py"):
                return f"python {frame.file}"
    return "python train.py"
