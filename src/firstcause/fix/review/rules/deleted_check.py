"""A check that is gone: an assertion, a test, or an error that was raised on purpose."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from firstcause.fix.review.reason import Reason
from firstcause.fix.review.setting import Setting
from firstcause.fix.review.sides import Change, name_of

_SKIPPING = ("skip", "skipif", "xfail", "skipIf", "skipUnless", "skipTest", "expectedFailure")


def find(changes: Sequence[Change], setting: Setting) -> Iterator[Reason]:
    """Assertions, tests and raised errors of the old side that the new one lacks, and tests that are skipped."""
    for change in changes:
        asserts = [n for n in ast.walk(change.new) if isinstance(n, ast.Assert)]
        lost = list(change.removed(ast.Assert))
        if len(lost) > len(list(change.added(ast.Assert))):
            yield _gone(change, lost[0], f"an assertion is gone; {len(asserts)} are left")
        kept = {
            n.name for n in ast.walk(change.new) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
        }
        for test in [
            n for n in ast.walk(change.old) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
        ]:
            if test.name.startswith("test") and test.name not in kept:
                yield _gone(change, test, f"the test {test.name} is gone")
        raised = [node for node in change.removed(ast.Raise) if node.exc is not None]
        if len(raised) > len(list(change.added(ast.Raise))):
            yield _gone(change, raised[0], "an error that was raised on purpose is raised no more")
        for node in change.added(ast.Attribute):
            if node.attr in _SKIPPING and name_of(node.value) in ("mark", "pytest", "unittest", "self"):
                yield Reason(
                    "deleted-check",
                    f"{change.path}:{node.lineno}",
                    "a test is skipped: what it finds is still there",
                )


def _gone(change: Change, node: ast.stmt, what: str) -> Reason:
    return Reason("deleted-check", f"{change.path}:{node.lineno}", f"{what}: what it found is still there")
