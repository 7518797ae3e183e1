"""A change of a program that was found healthy: whatever it treats is not there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firstcause.fix.review.reason import Reason
from firstcause.fix.review.setting import Setting
from firstcause.fix.review.sides import Change


def find(changes: Sequence[Change], setting: Setting) -> Iterator[Reason]:
    """Said of the first file whose code changes, where the diagnosis is healthy."""
    if setting.diagnosis is None or setting.diagnosis.status != "healthy":
        return
    change = next((change for change in changes if change.code_changed), None)
    if change is not None:
        line = change.spans[0][0] if change.spans else 1
        text = "the diagnosis found this program healthy: there is no fault that a change could mend"
        yield Reason("nothing-to-mend", f"{change.path}:{max(line, 1)}", text)
