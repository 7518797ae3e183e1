"""Which fixes are variations of one approach, and how often an approach has failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from firstcause.errors import InputError
from firstcause.fix.patch import parse
from firstcause.schema import Diagnosis

LIMIT = 3
# Lines between two edits that count as one site: a failed patch that was taken out moves lines a little.
NEAR = 3


@dataclass(frozen=True)
class Approach:
    """What a fix builds on: its cause, the (file, first, last) lines edited, the interventions behind it."""

    cause: str
    sites: tuple[tuple[str, int, int], ...]
    interventions: tuple[str, ...]


def approach_of(diagnosis: Diagnosis) -> Approach:
    """The approach of a diagnosis's fix; a diff that cannot be read has no sites."""
    diff = diagnosis.fix.diff if diagnosis.fix else ""
    try:
        sites = tuple((patch.path, *hunk.span()) for patch in parse(diff) for hunk in patch.hunks)
    except InputError:
        sites = ()
    mine = (h for h in diagnosis.hypotheses if h.cause == diagnosis.cause)
    names = (e.values.get("intervention") for h in mine for e in h.evidence if e.supports)
    return Approach(diagnosis.cause or "", sites, tuple(sorted({str(name) for name in names if name})))


def same_approach(one: Approach, other: Approach) -> bool:
    """Whether two fixes share a cause, an edited site or an intervention."""
    return (
        one.cause == other.cause
        or bool(set(one.interventions) & set(other.interventions))
        or any(_near(a, b) for a in one.sites for b in other.sites)
    )


def _near(one: tuple[str, int, int], other: tuple[str, int, int]) -> bool:
    return one[0] == other[0] and one[1] <= other[2] + NEAR and other[1] <= one[2] + NEAR


def strikes(approach: Approach, failed: Sequence[Approach]) -> int:
    """How many of the failed fixes are variations of ``approach``, directly or through one another."""
    return len(related(approach, failed))


def related(approach: Approach, failed: Sequence[Approach]) -> list[Approach]:
    """The failed fixes that are variations of ``approach``, directly or through one another."""
    alike, rest = [approach], list(failed)
    for one in alike:
        alike += [other for other in rest if same_approach(one, other)]
        rest = [other for other in rest if not same_approach(one, other)]
    return alike[1:]
