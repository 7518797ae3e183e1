"""The allocator's cache emptied: it frees what nobody uses, and nothing of what is held."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from firstcause.fix.review.reason import Reason
from firstcause.fix.review.setting import Setting
from firstcause.fix.review.sides import Change, name_of


def find(changes: Sequence[Change], setting: Setting) -> Iterator[Reason]:
    """New calls of ``empty_cache`` and of the garbage collector."""
    for change in changes:
        for call in change.added(ast.Call):
            collects = (
                isinstance(call.func, ast.Attribute)
                and name_of(call.func.value) == "gc"
                and name_of(call) == "collect"
            )
            if name_of(call) == "empty_cache" or collects:
                text = f"{name_of(call)}() frees what nobody uses: what is held, and by whom, is unchanged"
                yield Reason("emptied-cache", f"{change.path}:{call.lineno}", text)
