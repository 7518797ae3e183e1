"""Two tables of the same things: one is sorted by a key, and what stands beside it is taken from the other as it is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from firstcause.source.callsites import last_name
from firstcause.source.module import Module
from firstcause.source.pairing.pairs import MOST_TOGETHER, name_of
from firstcause.source.pairing.parting import Parting
from firstcause.source.pairing.sorted_tables import (
    MODULES,
    Sorted,
    column_of,
    columns_of,
    is_same_column,
    renamed,
    rows_read,
    sorted_by,
)
from firstcause.source.pairing.texts import changed, one_line
from firstcause.source.rewrites import Rewrite

# What brings rows into an order, or to those of another table.
ORDERING = frozenset({
    "argsort", "sort_values", "sort_index", "sort", "sorted", "merge", "join", "reindex", "loc", "set_index", "align",
    "searchsorted", "lexsort", "map", "get_indexer",
})  # fmt: skip


def find(module: Module) -> Iterator[Parting]:
    """Each value of another table beside one of the sorted table."""
    for scope in (module.tree, *module.nodes(ast.FunctionDef)):
        assigns = [a for a in module.inside(scope, ast.Assign) if _scope(module, a) is scope]
        done = [e for e in module.inside(scope, ast.Expr) if _scope(module, e) is scope]
        statements: list[ast.Assign | ast.Expr] = [*assigns, *done]
        for one in (s for a in statements if (s := sorted_by(module, a)) is not None):
            yield from _beside(module, scope, assigns, one)


def _beside(module: Module, scope: ast.AST, assigns: list[ast.Assign], one: Sorted) -> Iterator[Parting]:
    taken = [a for a in assigns if a is not one.statement and _takes(module, a, one)]
    mine = {n for a in taken for t in a.targets if (n := name_of(t)) is not None}
    moved = mine | {one.table, one.order}
    for other in assigns:
        target, read = name_of(other.targets[0]), _read(other.value)
        rest = [n for n in read if n not in MODULES and _is_bound(module, scope, n, other)]
        if target is None or target in moved or len(rest) != 1 or rest[0] in moved or one.order in read:
            continue
        table = rest[0]
        if not rows_read(other.value, table) or _is_ordered(module, scope, table):
            continue
        first, second = _made_from(assigns, mine), _made_from(assigns, {target})
        if not _are_beside(module, scope, first - second, second - first):
            continue
        way = _likewise(module, other, table, one)
        if way is not None:
            words = (
                f"`{one_line(module, one.statement)}` sorts {one.table}, and `{one_line(module, other)}`, which stands beside "
                f"it, takes {table} as it is"
            )
            yield Parting(module, other, words, ((way,),))


def _takes(module: Module, assign: ast.Assign, one: Sorted) -> bool:
    """Whether a statement behind it takes rows of the sorted table."""
    if assign.lineno < one.statement.lineno:
        return False
    read = _read(assign.value)
    return one.table in read and (one.whole or one.order in read)


def _read(node: ast.AST) -> set[str]:
    """The names and attributes that a value reads, without those that it gives a meaning itself."""
    own = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return (names - own - {"self"}) | {
        n
        for a in ast.walk(node)
        if isinstance(a, ast.Attribute) and (n := name_of(a)) and n.startswith("self.")
    }


def _scope(module: Module, node: ast.AST) -> ast.AST:
    return module.function(node) or module.tree


def _is_bound(module: Module, scope: ast.AST, name: str, before: ast.stmt) -> bool:
    """Whether a name is a value of the function: an argument, or given before; no function or module."""
    arguments = scope.args if isinstance(scope, ast.FunctionDef) else None
    if arguments is not None and name in {a.arg for a in (*arguments.args, *arguments.kwonlyargs)}:
        return True
    return any(
        a.lineno < before.lineno and any(name_of(n) == name for t in a.targets for n in ast.walk(t))
        for a in module.inside(scope, ast.Assign)
    )


def _is_ordered(module: Module, scope: ast.AST, table: str) -> bool:
    """Whether the function brings the other table's rows into an order, too, or to those of the first one."""
    pattern = re.compile(rf"(?<![\w.]){re.escape(table)}(?!\w)")
    calls = [(c, c.func) for c in module.inside(scope, ast.Call)]
    looked_up = [(s, s.value) for s in module.inside(scope, ast.Subscript)]
    return any(
        last_name(by) in ORDERING and pattern.search(module.segment(node))
        for node, by in (*calls, *looked_up)
    )


def _made_from(assigns: list[ast.Assign], names: set[str]) -> set[str]:
    """The names, and those that statements of the function make from them."""
    found = set(names)
    for assign in sorted(assigns, key=lambda a: a.lineno):
        if _read(assign.value) & found:
            found |= {n for t in assign.targets if (n := name_of(t)) is not None}
    return found


def _are_beside(module: Module, scope: ast.AST, mine: set[str], others: set[str]) -> bool:
    """Whether a value of the sorted table and one of the other are given beside each other."""
    calls = [[*c.args, *(k.value for k in c.keywords)] for c in module.inside(scope, ast.Call)]
    rows = [t.elts for t in module.inside(scope, ast.Tuple)]
    named = [d.values for d in module.inside(scope, ast.Dict)]
    for parts in (*calls, *rows, *named):
        read = [_read(p) for p in parts] if len(parts) <= MOST_TOGETHER else []
        own = any(n & mine and not n & others for n in read)
        if own and any(n & others and not n & mine for n in read):
            return True
    return False


def _likewise(module: Module, other: ast.Assign, table: str, one: Sorted) -> Rewrite | None:
    """The other value with its table sorted by the same key of its own."""
    if one.whole:
        text = renamed(module, one.statement, one.table, table)
        return Rewrite(module, other, f"{text}\n{module.segment(other)}")
    call = one.statement.value
    assert isinstance(call, ast.Call)
    key = next((c for p in (*call.args, call.func) if (c := column_of(p)) is not None), None)
    columns = [c for c in columns_of(other.value, table) if key is None or not is_same_column(c, key)]
    if key is None or len(columns) != 1:
        return None
    own = renamed(module, key, one.table, table)
    # Rows that are left out of the first table, as by ``meters["id"][keep]``, are its own.
    held = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    whole = next((p for p in call.args if key in ast.walk(p)), held)
    by = changed(module, call, (whole, own))
    return Rewrite(module, other, changed(module, other, (columns[0], f"{module.segment(columns[0])}[{by}]")))
