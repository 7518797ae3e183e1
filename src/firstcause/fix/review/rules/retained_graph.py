"""A graph that is kept so that backward may go through it twice: the step before is still part of this one."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from firstcause.fix.review.reason import Reason
from firstcause.fix.review.setting import Setting
from firstcause.fix.review.sides import Change, name_of


def find(changes: Sequence[Change], setting: Setting) -> Iterator[Reason]:
    """New ``retain_graph=True``, and a new search for anomalies."""
    for change in changes:
        for keyword in change.added(ast.keyword):
            if (
                keyword.arg == "retain_graph"
                and isinstance(keyword.value, ast.Constant)
                and keyword.value.value is True
            ):
                text = (
                    "retain_graph=True keeps the graph of earlier work: what is reused there is not made anew"
                )
                yield Reason("retained-graph", f"{change.path}:{keyword.value.lineno}", text)
        for call in change.added(ast.Call):
            if name_of(call) == "set_detect_anomaly":
                text = "set_detect_anomaly looks for the fault and mends nothing; it belongs into no patch"
                yield Reason("retained-graph", f"{change.path}:{call.lineno}", text)
