"""Two loaders that are drawn from side by side, each in a random order of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.source.module import Module
from firstcause.source.pairing.pairs import name_of
from firstcause.source.pairing.parting import Parting
from firstcause.source.pairing.texts import changed
from firstcause.source.rewrites import Rewrite


def find(module: Module) -> Iterator[Parting]:
    """The loader that stands last, for each two that are zipped and shuffle."""
    made = {
        name: (statement, keyword)
        for statement in module.nodes(ast.Assign)
        if (name := name_of(statement.targets[0])) is not None
        and (keyword := _shuffled(module, statement.value)) is not None
    }
    for call in module.nodes(ast.Call):
        if not isinstance(call.func, ast.Name) or call.func.id != "zip":
            continue
        names = [n for a in call.args if (n := name_of(a)) in made]
        if len(names) != 2:
            continue
        rewrites = tuple(_in_order(module, *made[str(n)]) for n in names)
        last = max((made[str(n)][0] for n in names), key=lambda s: s.lineno)
        words = (
            f"`{module.segment(call)}` takes batches of two loaders side by side, and each shuffles by itself"
        )
        yield Parting(module, last, words, (rewrites,))


def _shuffled(module: Module, value: ast.expr) -> ast.keyword | None:
    if not isinstance(value, ast.Call) or module.segment(value.func).rpartition(".")[2] != "DataLoader":
        return None
    return next(
        (
            k
            for k in value.keywords
            if k.arg == "shuffle" and isinstance(k.value, ast.Constant) and k.value.value is True
        ),
        None,
    )


def _in_order(module: Module, statement: ast.stmt, keyword: ast.keyword) -> Rewrite:
    return Rewrite(module, statement, changed(module, statement, (keyword.value, "False")))
