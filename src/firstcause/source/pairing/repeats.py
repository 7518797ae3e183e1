"""Rows that are repeated one by one beside rows that are repeated as a whole."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.source.module import Module
from firstcause.source.pairing.parting import Parting
from firstcause.source.pairing.texts import changed
from firstcause.source.rewrites import Rewrite

ONE_BY_ONE, WHOLE = "one by one", "as a whole"
JOINS = {"cat", "concat", "concatenate", "vstack"}
OTHERWISE = {
    "repeat_interleave": "repeat",
    "repeat": "repeat_interleave",
    "np.repeat": "np.tile",
    "np.tile": "np.repeat",
}


def find(module: Module) -> Iterator[Parting]:
    """Each repetition of a vector in a file that repeats something else the other way."""
    calls = [(c, k) for c in module.nodes(ast.Call) if (k := _kind(module, c)) is not None]
    for call, kind in calls:
        others = [c for c, k in calls if k != kind]
        other = _otherwise(module, call)
        statement = module.statement(call)
        if not others or other is None or not isinstance(statement, (ast.Assign, ast.Return, ast.Expr)):
            continue
        new = changed(module, statement, (call, other))
        words = (
            f"`{module.segment(call)}` repeats its rows {kind}, and `{module.segment(others[0])}` beside it "
            f"{ONE_BY_ONE if kind == WHOLE else WHOLE}"
        )
        yield Parting(module, statement, words, ((Rewrite(module, statement, new),),))


def _name(module: Module, call: ast.Call) -> str:
    name = module.segment(call.func)
    short = name.rpartition(".")[2]
    return name.replace("numpy.", "np.") if name.startswith(("np.", "numpy.")) else short


def _kind(module: Module, call: ast.Call) -> str | None:
    name = _name(module, call)
    if name in ("repeat_interleave", "np.repeat"):
        return ONE_BY_ONE
    if name in ("repeat", "np.tile"):
        return WHOLE
    parts = call.args[0] if call.args else None
    joined = name.rpartition(".")[2] in JOINS and isinstance(parts, (ast.List, ast.Tuple, ast.BinOp))
    return WHOLE if joined else None


def _otherwise(module: Module, call: ast.Call) -> str | None:
    """The call of the other kind, where it repeats a vector: only there both are written with one number."""
    name = _name(module, call)
    if name not in OTHERWISE or call.keywords or not isinstance(call.func, ast.Attribute):
        return None
    if len(call.args) != (2 if name.startswith("np.") else 1):
        return None
    held = module.segment(call.func.value)
    given = ", ".join(module.segment(a) for a in call.args)
    return f"{held}.{OTHERWISE[name].rpartition('.')[2]}({given})"
