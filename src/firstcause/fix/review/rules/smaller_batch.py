"""A smaller batch against memory that grows or a step that fails: it comes later, and it comes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firstcause.fix.review.reason import Reason
from firstcause.fix.review.setting import Setting
from firstcause.fix.review.sides import Change, changed_numbers
from firstcause.fix.review.treatments import TREATS


def find(changes: Sequence[Change], setting: Setting) -> Iterator[Reason]:
    """A size of a batch that is written smaller than before, unless the size is what the established cause is about."""
    if setting.cause in TREATS["the batch size"]:
        return
    for change in changes:
        for name, before, after, node in changed_numbers(change):
            if after < before and (
                "batch_size" in name.lower() or name.lower() in ("batch", "bs", "batchsize", "micro_batch")
            ):
                text = f"{name} from {before:g} to {after:g}: what grows or fails comes later, and is not removed"
                yield Reason("smaller-batch", f"{change.path}:{node.lineno}", text)
