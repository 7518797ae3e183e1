"""A treatment of a cause that is refuted, or of another one than the measurements established."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firstcause.fix.review.reason import Reason
from firstcause.fix.review.setting import Setting
from firstcause.fix.review.sides import Change
from firstcause.fix.review.treatments import TREATS, explained, treatments


def find(changes: Sequence[Change], setting: Setting) -> Iterator[Reason]:
    """Said where the whole patch is known treatments, and none of them is one for the established cause."""
    if setting.diagnosis is None or not setting.diagnosis.hypotheses:
        # Nothing was measured that the patch could contradict.
        return
    found = [(change, kind, line) for change in changes for kind, line in treatments(change)]
    if not found or not all(explained(change) for change in changes if change.code_changed):
        return
    treated = {cause for _, kind, _ in found for cause in TREATS[kind]}
    change, kind, line = found[0]
    place = f"{change.path}:{line}"
    if setting.cause is not None and setting.cause not in treated:
        yield Reason(
            "another-cause", place, f"a change of {kind} is no fix for {setting.cause}, which was established"
        )
    elif setting.cause is None and treated and treated <= set(setting.refuted):
        cause = sorted(treated)[0]
        yield Reason(
            "refuted-cause",
            place,
            f"a change of {kind} treats {cause}, which is refuted: {setting.refuted[cause]}",
        )
