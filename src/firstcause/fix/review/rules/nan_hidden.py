"""Values that are not finite replaced or skipped where they arrive, and not prevented where they arise."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from firstcause.fix.review.reason import Reason
from firstcause.fix.review.setting import Setting
from firstcause.fix.review.sides import Change, name_of

_TESTS = ("isnan", "isinf", "isfinite", "isneginf", "isposinf")
_REPLACING = ("where", "masked_fill", "masked_fill_")
# Where the fault is that the data holds such values, replacing them in the data is a fix.
_IN_THE_DATA = ("nan-in-data", "outlier-in-data")


def find(changes: Sequence[Change], setting: Setting) -> Iterator[Reason]:
    """New nan_to_num, replacements under a test for NaN, and steps that are skipped under one."""
    if setting.cause in _IN_THE_DATA:
        return
    for change in changes:
        for node, text in _hidden(change):
            yield Reason("nan-hidden", f"{change.path}:{node.lineno}", text)


def _hidden(change: Change) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    for call in change.added(ast.Call):
        name = name_of(call)
        if name in ("nan_to_num", "nan_to_num_", "nanmean", "nansum") or (
            name in _REPLACING and any(_tests(argument) for argument in call.args)
        ):
            yield call, f"{name} replaces what is not finite: the operation that makes it still does"
    for branch in change.added(ast.If):
        skips = all(isinstance(s, (ast.Continue, ast.Pass, ast.Break, ast.Expr)) for s in branch.body)
        if (
            _tests(branch.test)
            and skips
            and any(isinstance(s, (ast.Continue, ast.Break)) for s in branch.body)
        ):
            yield branch, "a step whose loss is not finite is skipped: what makes it so is still there"
    for assignment in change.added(ast.Assign):
        target = assignment.targets[0]
        if isinstance(target, ast.Subscript) and _tests(target.slice):
            yield assignment, "what is not finite is overwritten: the operation that makes it still does"


def _tests(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Call) and name_of(n) in _TESTS for n in ast.walk(node))
