"""A check made easier to pass: a larger tolerance, or a bound moved in an assertion."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from firstcause.fix.review.reason import Reason
from firstcause.fix.review.setting import Setting
from firstcause.fix.review.sides import Change, changed_numbers, number_of, settings

_TOLERANCES = (
    "atol",
    "rtol",
    "tol",
    "tolerance",
    "abs_tol",
    "rel_tol",
    "delta",
    "nondet_tol",
    "abs",
    "rel",
)


def find(changes: Sequence[Change], setting: Setting) -> Iterator[Reason]:
    """Tolerances that are larger than before, or new and not zero; and other numbers in an assertion."""
    for change in changes:
        for name, before, after, node in changed_numbers(change):
            if name.lower() in _TOLERANCES and after > before:
                text = f"{name} from {before:g} to {after:g}: what differs still differs, and passes"
                yield Reason("raised-tolerance", f"{change.path}:{node.lineno}", text)
        old = {name for name, _ in settings(change.old)}
        for keyword in change.added(ast.keyword):
            if (
                keyword.arg in ("atol", "rtol", "abs_tol", "rel_tol")
                and keyword.arg not in old
                and number_of(keyword.value)
            ):
                text = f"a tolerance is new: {keyword.arg}={number_of(keyword.value):g}; what differs still differs, and passes"
                yield Reason("raised-tolerance", f"{change.path}:{keyword.value.lineno}", text)
        gone = {_without_numbers(a.test): a for a in change.removed(ast.Assert)}
        for new in change.added(ast.Assert):
            old_one = gone.get(_without_numbers(new.test))
            if old_one is not None and not _stricter(old_one.test, new.test):
                text = "the bound of an assertion is another one: what it found is still there"
                yield Reason("raised-tolerance", f"{change.path}:{new.lineno}", text)


def _stricter(before: ast.expr, after: ast.expr) -> bool:
    """Whether a comparison with one number admits less than before; False where that cannot be told."""
    if not (isinstance(before, ast.Compare) and isinstance(after, ast.Compare) and len(after.ops) == 1):
        return False
    old, new = number_of(before.comparators[0]), number_of(after.comparators[0])
    if old is None or new is None:
        return False
    if isinstance(after.ops[0], (ast.Lt, ast.LtE)):
        return new < old
    return isinstance(after.ops[0], (ast.Gt, ast.GtE)) and new > old


def _without_numbers(node: ast.expr) -> str:
    copied = ast.parse(ast.unparse(node), mode="eval")
    for constant in [
        n for n in ast.walk(copied) if isinstance(n, ast.Constant) and isinstance(n.value, (int, float))
    ]:
        constant.value = 0
    return ast.dump(copied)
