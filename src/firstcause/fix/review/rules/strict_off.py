"""A state loaded without comparing its keys: what does not fit stays as it was initialised."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from firstcause.fix.review.reason import Reason
from firstcause.fix.review.setting import Setting
from firstcause.fix.review.sides import Change


def find(changes: Sequence[Change], setting: Setting) -> Iterator[Reason]:
    """New ``strict=False``, and sizes that are to be ignored."""
    for change in changes:
        for keyword in change.added(ast.keyword):
            value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
            if (keyword.arg == "strict" and value is False) or (
                keyword.arg == "ignore_mismatched_sizes" and value is True
            ):
                text = f"{keyword.arg}={value} loads what fits and leaves the rest at its initial values, without an error"
                yield Reason("strict-off", f"{change.path}:{keyword.value.lineno}", text)
