"""The hypotheses of a diagnosis as rows: rank, cause, status, place, and the evidence that decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firstcause.report.plain import cells, cropped, one_line, padded
from firstcause.report.style import Style
from firstcause.schema import Evidence, Hypothesis

# How much a kind of evidence decides, weakest first.
_WEIGHT = ("static", "observation", "replay", "counterfactual", "experiment")
_MARKS = {
    "confirmed": ("✓", "+", "green"),
    "refuted": ("✗", "x", "red"),
    "inconclusive": ("?", "?", "yellow"),
    "open": ("·", ".", "dim"),
}


def deciding(hypothesis: Hypothesis) -> Evidence | None:
    """The evidence that decided a hypothesis: on the side of its status, of the strongest kind, the latest.

    Where none decided, the latest of all: what left it inconclusive.
    """
    side = {"confirmed": True, "refuted": False}.get(hypothesis.status)
    speaking = [e for e in hypothesis.evidence if e.supports is side]
    if not speaking:
        return hypothesis.evidence[-1] if hypothesis.evidence else None
    return max(reversed(speaking), key=lambda e: _WEIGHT.index(e.kind))


def ranked(hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    """The hypotheses by rank."""
    return sorted(hypotheses, key=lambda h: h.rank)


def decision(hypothesis: Hypothesis) -> str:
    """One line on why a hypothesis stands as it does: its deciding evidence, else what is missing."""
    evidence = deciding(hypothesis)
    if evidence is None or (hypothesis.status == "inconclusive" and hypothesis.missing):
        return f"missing: {one_line(hypothesis.missing)}" if hypothesis.missing else "no evidence was taken"
    return f"{evidence.kind}: {one_line(evidence.text)}"


def hypothesis_lines(hypotheses: Sequence[Hypothesis], style: Style) -> Iterator[str]:
    """Two lines a hypothesis: rank, cause, status and place; then the evidence that decided."""
    rows = ranked(hypotheses)
    digits = max(len(str(h.rank)) for h in rows)
    width = max(cells(one_line(h.cause)) for h in rows)
    end = style.glyph("…", "...")
    for h in rows:
        glyph, ascii_form, color = _MARKS[h.status]
        paint = getattr(style, color)
        name = padded(one_line(h.cause), width)
        place = cropped(one_line(str(h.site)), style.width - width - digits - 24, end) if h.site else ""
        mark, status = paint(style.glyph(glyph, ascii_form)), paint(f"{h.status:<12}")
        shown = style.bold(name) if h.status == "confirmed" else name
        yield f"  {h.rank:>{digits}} {mark} {shown}  {status}  {style.dim(place)}"
        yield style.dim(" " * (digits + 5) + cropped(decision(h), style.width - digits - 5, end))
