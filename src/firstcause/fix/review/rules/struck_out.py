"""One more variation of an approach that has failed three times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firstcause.fix.review.reason import Reason
from firstcause.fix.review.setting import Setting
from firstcause.fix.review.sides import Change


def find(changes: Sequence[Change], setting: Setting) -> Iterator[Reason]:
    """Said where the case says so."""
    if setting.struck_out:
        yield Reason("fourth-variation", changes[0].path, setting.struck_out)
