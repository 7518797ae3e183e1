"""Files that are listed in an order of their names, which is another than that of their numbers, or in none."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.source.module import Module
from firstcause.source.pairing.parting import Parting
from firstcause.source.pairing.texts import changed
from firstcause.source.rewrites import Rewrite

LISTS = {"listdir", "glob", "iglob", "iterdir", "scandir", "rglob"}
NATURAL = "key=lambda name: (len(str(name)), str(name))"


def find(module: Module) -> Iterator[Parting]:
    """A listing that is sorted as text, and one that is not sorted while another one is."""
    lists = [c for c in module.nodes(ast.Call) if module.segment(c.func).rpartition(".")[2] in LISTS]
    around = {c: _sorted(module, c) for c in lists}
    for call in lists:
        statement = module.statement(call)
        if not isinstance(statement, (ast.Assign, ast.Return, ast.Expr)):
            continue
        holder = around[call]
        if holder is not None and not holder.keywords:
            whole, new = holder, f"{module.segment(holder)[:-1].rstrip().rstrip(',')}, {NATURAL})"
            words = f"`{module.segment(holder)}` sorts names as text, in which 10 comes before 2"
        elif holder is None and any(around.values()):
            whole, new = call, f"sorted({module.segment(call)})"
            words = f"`{module.segment(call)}` lists names in no order, and another listing is sorted"
        else:
            continue
        text = changed(module, statement, (whole, new))
        yield Parting(module, statement, words, ((Rewrite(module, statement, text),),))


def _sorted(module: Module, call: ast.Call) -> ast.Call | None:
    for above in module.ancestors(call):
        if isinstance(above, ast.stmt):
            return None
        if isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id == "sorted":
            return above
    return None
