"""An error that is caught and dropped: it still happens, and nobody hears of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from firstcause.fix.review.reason import Reason
from firstcause.fix.review.setting import Setting
from firstcause.fix.review.sides import Change, name_of

_SAYING = ("print", "debug", "info", "warning", "warn", "error", "exception", "log", "write")
_BROAD = (
    "Exception",
    "BaseException",
    "RuntimeError",
    "ValueError",
    "FloatingPointError",
    "AssertionError",
    "IndexError",
)


def find(changes: Sequence[Change], setting: Setting) -> Iterator[Reason]:
    """New handlers that do nothing with the error, and new ``contextlib.suppress``."""
    for change in changes:
        known = {_guards(t, h) for t in ast.walk(change.old) if isinstance(t, ast.Try) for h in t.handlers}
        fresh = list(change.added(ast.ExceptHandler))
        for block in [n for n in ast.walk(change.new) if isinstance(n, ast.Try)]:
            for handler in [h for h in block.handlers if h in fresh and _guards(block, h) not in known]:
                yield from _dropped(change, handler)
        for call in change.added(ast.Call):
            if name_of(call) == "suppress" and any(_broad(argument) for argument in call.args):
                text = "errors are suppressed: what raised them is still there"
                yield Reason("swallowed-error", f"{change.path}:{call.lineno}", text)


def _guards(block: ast.Try, handler: ast.ExceptHandler) -> str:
    """What a handler is for: its error, and the statements that it guards; an edited handler is no new one."""
    kind = ast.dump(handler.type) if handler.type is not None else ""
    return kind + "".join(map(ast.dump, block.body))


def _dropped(change: Change, handler: ast.ExceptHandler) -> Iterator[Reason]:
    if _broad(handler.type) and all(_drops(statement) for statement in handler.body):
        text = "an error is caught and dropped: what raised it is still there"
        yield Reason("swallowed-error", f"{change.path}:{handler.lineno}", text)


def _broad(kind: ast.expr | None) -> bool:
    if isinstance(kind, ast.Tuple):
        return any(_broad(one) for one in kind.elts)
    return kind is None or name_of(kind) in _BROAD or name_of(kind).endswith("OutOfMemoryError")


def _drops(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.Pass, ast.Continue, ast.Break)):
        return True
    if isinstance(statement, ast.Return):
        return statement.value is None or isinstance(statement.value, ast.Constant)
    if not isinstance(statement, ast.Expr):
        return False
    value = statement.value
    return isinstance(value, ast.Constant) or (
        isinstance(value, ast.Call) and name_of(value) in (*_SAYING, "zero_grad")
    )
