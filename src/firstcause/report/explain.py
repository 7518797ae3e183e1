"""What the catalogue knows about one entry as a terminal page, and the list of its entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from firstcause.catalog.defects import Defect
from firstcause.report.frame import body, columns, heading, title
from firstcause.report.style import Style
from firstcause.schema import Cause, Pattern

Parts = Sequence[tuple[str, str | Sequence[str]]]
CRITICALITY = {
    1: "invalid data or memory access: what follows it cannot be trusted",
    2: "wrong numbers or a wrong computation",
    3: "loading, saving and versions",
    4: "resources",
    5: "waiting",
    6: "speed",
}


def cause_page(entry: Cause, style: Style) -> Iterator[str]:
    """A cause: its mechanism, what settles it, its fix, what is taken for it."""
    parts: Parts = (
        ("Mechanism", entry.mechanism),
        ("Symptoms", entry.symptoms),
        ("Confirmed By", entry.confirms),
        ("Refuted By", entry.refutes),
        ("Experiment", entry.experiment),
        ("Fix", entry.fix),
        ("What The Fix Changes", entry.fix_changes),
        ("What The Fix Does NOT Fix", entry.fix_does_not),
        ("Often Taken For It", entry.decoys),
        ("Settled By", f"{entry.specialist}; proof: {entry.proof}"),
    )
    yield from _page(entry.title, entry.slug, parts, style)


def pattern_page(entry: Pattern, style: Style) -> Iterator[str]:
    """A pattern: what it means, what to gather, what not to do, where it leads, how it is worded by version."""
    wordings = [
        m.text + (f"  ({', '.join(filter(None, (m.versions, m.source)))})" if m.versions or m.source else "")
        for m in entry.messages
    ]
    parts: Parts = (
        ("Meaning", entry.definition),
        ("Looked At First By", entry.specialist + ("; it reports another failure" if entry.wrapper else "")),
        ("Rank Among Several", f"{entry.criticality} of 6: {CRITICALITY[entry.criticality]}"),
        ("Gather, The Cheapest First", entry.gather),
        ("Do NOT", entry.do_not),
        ("Causes, The Likeliest First", entry.causes),
        ("Mistaken For", entry.look_alikes),
        ("Wordings", wordings),
    )
    yield from _page(entry.title, entry.slug, parts, style)


def defect_page(entry: Defect, style: Style) -> Iterator[str]:
    """A known defect: which versions, what happens, how to tell, what helps."""
    parts: Parts = (
        ("Versions", f"{entry.library} {entry.versions}".strip()),
        ("What Happens", entry.what),
        ("How To Tell", entry.tell),
        ("Remedy", entry.remedy),
        ("Seen As", entry.patterns),
        ("Source", entry.source),
    )
    yield from _page(entry.title, entry.slug, parts, style)


def specialist_page(
    slug: str, looks_at: str, causes: Mapping[str, Cause], patterns: Mapping[str, Pattern], style: Style
) -> Iterator[str]:
    """A specialist: what it looks at, the causes that it settles, the patterns that begin with it."""
    yield from title(looks_at, slug, "cyan", style)
    own = [(c.slug, c.title) for c in causes.values() if c.specialist == slug]
    first = [(p.slug, p.title) for p in patterns.values() if p.specialist == slug]
    for name, rows in (("Causes It Settles", own), ("Patterns That Begin With It", first)):
        if rows:
            yield from heading(name, style)
            yield from columns(rows, style)


def listing(groups: Mapping[str, Mapping[str, str]], style: Style) -> Iterator[str]:
    """Every entry under its group, each a slug and a title."""
    width = max(len(slug) for entries in groups.values() for slug in entries)
    for at, (name, entries) in enumerate(groups.items()):
        if at:
            yield ""
        yield style.dim(name)
        for slug, text in entries.items():
            yield f"{style.bold(f'{slug:<{width}}')}  {text}"


def _page(name: str, slug: str, parts: Parts, style: Style) -> Iterator[str]:
    yield from title(name, slug, "cyan", style)
    for part, text in parts:
        if text:
            yield from heading(part, style)
            yield from body(text if isinstance(text, str) else "\n".join(f"- {item}" for item in text), style)
