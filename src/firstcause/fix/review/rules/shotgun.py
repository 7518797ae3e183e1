"""Several changes of different kinds at once: if the symptom goes, nobody knows which of them did it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firstcause.fix.review.reason import Reason
from firstcause.fix.review.setting import Setting
from firstcause.fix.review.sides import Change
from firstcause.fix.review.treatments import treatments

# Kinds of treatment in one patch: a fix has one, or two where the second follows from the first.
MOST = 2


def find(changes: Sequence[Change], setting: Setting) -> Iterator[Reason]:
    """Said of more than ``MOST`` kinds of treatment."""
    kinds = sorted({kind for change in changes for kind, _ in treatments(change)})
    if len(kinds) > MOST:
        text = f"{len(kinds)} kinds of change at once ({', '.join(kinds)}): which of them would have helped is not told"
        yield Reason("shotgun", changes[0].path, text)
