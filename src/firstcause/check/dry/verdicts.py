"""What the dry run says of what was read: confirmed, refuted, or found on top."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from firstcause.check.dry.process import Dry
from firstcause.schema import Site
from firstcause.schema.finding import Finding
from firstcause.source.module import display_name

# The same fault by the names of a reading and of a run.
SAME = (
    frozenset({"optimizer-before-params-replaced", "params-missing-from-optimizer"}),
    frozenset({"training-under-no-grad", "detached-loss", "detached-encoder"}),
    frozenset({"device-mismatch", "tensor-attribute-not-a-buffer", "missing-device-move"}),
)
CONFIRMED = "; a dry run confirms it"


def joined(read: Sequence[Finding], runs: Iterable[Dry], root: str) -> list[Finding]:
    """The findings of a reading and of dry runs, each fault once, without those that a dry run refutes."""
    runs = list(runs)
    seen = [_finding(event, root) for run in runs for event in run.findings]
    refuted = {
        (e["slug"], display_name(e["place"][0], root), e["place"][1]) for run in runs for e in run.judged
    }
    found = {(f.slug, f.site.file) for f in seen}
    kept: list[Finding] = []
    for finding in read:
        if any(_same(finding.slug, slug) and finding.site.file == file for slug, file in found):
            kept.append(replace(finding, message=finding.message + CONFIRMED))
        elif (finding.slug, finding.site.file) not in found and _refuted(finding, refuted):
            continue
        else:
            kept.append(finding)
    told = {(f.slug, f.site.file) for f in kept}
    new = [f for f in seen if not any(_same(f.slug, slug) and f.site.file == file for slug, file in told)]
    return sorted([*kept, *new], key=lambda f: (f.site.file, f.site.line, f.slug))


def _refuted(finding: Finding, refuted: set[tuple[str, str, int]]) -> bool:
    """Whether a line of it, or within the block that it is about, was looked at and is in order."""
    site, last = finding.site, max(finding.end_line, finding.site.line)
    return any(
        slug == finding.slug
        and (
            (file == site.file and site.line <= line <= last)
            or any(file == other.file and line == other.line for other in finding.related)
        )
        for slug, file, line in refuted
    )


def _same(one: str, other: str) -> bool:
    return one == other or any(one in names and other in names for names in SAME)


def _finding(event: dict[str, Any], root: str) -> Finding:
    site = _site(event["place"], root)
    related = tuple(_site(place, root) for place in event.get("related", ()))
    return Finding(event["slug"], event["category"], site, event["message"], related=related)


def _site(place: Sequence[Any], root: str) -> Site:
    import linecache

    return Site(display_name(place[0], root), place[1], "", linecache.getline(place[0], place[1]).strip())


def notes(run: Dry, root: str) -> list[str]:
    """How far a program went, and what it asked for on the way, a line each."""
    end, name = run.end, str(run.command)
    file, line = end["place"]
    where = f" past {display_name(file, root)}:{line}" if line else ""
    counted = f"{end.get('steps', 0)} optimizer steps"
    if end["outcome"] == "finished" and not end.get("steps"):
        passes = f"forward passes: {end.get('forwards', 0)}, backward passes: {end.get('backwards', 0)}"
        first = (
            f"dry run of {name}: to its end, and nothing was trained, since no optimizer stepped ({passes})"
        )
    elif end["outcome"] == "finished":
        first = f"dry run of {name}: {counted}, to its end"
    elif end["outcome"] == "time":
        first = f"dry run of {name}: {counted}; the time was used up at {display_name(file, root)}:{line}"
    else:
        first = f"{name} could not be dry-run{where}, because {end['why']}"
    return [first, *(f"dry run of {name}: {note}" for note in dict.fromkeys(run.notes))]
