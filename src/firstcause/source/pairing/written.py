"""Two stores of one record that are written by one row number, which moves on between the two writes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from firstcause.source.callsites import last_name
from firstcause.source.module import Module
from firstcause.source.pairing.drawn import draws
from firstcause.source.pairing.pairs import name_of
from firstcause.source.pairing.parting import Parting
from firstcause.source.pairing.texts import one_line
from firstcause.source.rewrites import Rewrite

# Stores that hold what comes before or after a row, by design.
OF_ANOTHER_ROW = re.compile(
    r"prev|last|next|old|done|mask|first|start|term|trunc|boot|reset|lag", re.IGNORECASE
)
WRITES = frozenset({"copy_", "fill_"})
JOINS = frozenset({"cat", "concat", "concatenate", "stack", "hstack", "column_stack", "dstack"})


@dataclass(frozen=True, eq=False)
class Write:
    """One statement of a block that writes rows: of which store, by which number, and where that number is taken."""

    at: int
    statement: ast.stmt
    store: str
    # The row number with a local name for it replaced by what it was given, and where in the block that was.
    index: ast.expr
    taken: int


def find(module: Module) -> Iterator[Parting]:
    """The first write behind a step of the row number by which other stores of the block were written."""
    for node in module.nodes(ast.FunctionDef, ast.For, ast.While, ast.With, ast.If, ast.Try, ast.Module):
        for field in ("body", "orelse"):
            block: list[ast.stmt] = getattr(node, field, None) or []
            one = _parted(module, block) if len(block) > 2 else None
            if one is not None:
                yield one


def _parted(module: Module, block: Sequence[ast.stmt]) -> Parting | None:
    writes = list(_writes(block))
    for number, first in enumerate(writes):
        if any(_is_same(first, w) for w in writes[:number]):
            continue
        same = [w for w in writes if _is_same(first, w)]
        steps = (n for n in range(first.taken + 1, len(block)) if _steps(module, block[n], first.index))
        step = next(steps, None)
        if step is None or draws(module, first.index):
            continue
        early, late = [w for w in same if w.taken < step], [w for w in same if w.taken > step]
        stores = {w.store for w in early}
        values = {ast.dump(_value(w.statement)) for w in early}
        # A store that is written on both sides, or one value that is, is meant for two rows.
        meant = any(w.store in stores or ast.dump(_value(w.statement)) in values for w in late)
        if meant or all(OF_ANOTHER_ROW.search(_last(w.store)) for w in late):
            continue
        if _are_joined(module, {_last(s) for s in stores}, {_last(w.store) for w in late}):
            continue
        way = _after_all(module, block, step, first, late)
        if way:
            beside, is_one = " and ".join(sorted(stores)), len(stores) == 1
            words = (
                f"`{one_line(module, late[0].statement)}` writes to the row that `{one_line(module, block[step])}` has moved "
                f"on to, and {beside} beside it {'is' if is_one else 'are'} written before"
            )
            return Parting(module, late[0].statement, words, (way,))
    return None


def _writes(block: Sequence[ast.stmt]) -> Iterator[Write]:
    for at, statement in enumerate(block):
        target = _target(statement)
        store = _store(target.value) if target is not None else None
        if target is None or store is None:
            continue
        index: ast.expr = target.slice
        if isinstance(index, ast.Tuple) and index.elts:
            index = index.elts[0]
        taken = at
        if isinstance(index, ast.Name):
            given = [(n, v) for n in range(at) if (v := _given(block[n], index.id)) is not None]
            # A number that steps itself stands for itself.
            if given and index.id not in _named(given[-1][1]):
                taken, index = given[-1]
        if _named(index):
            yield Write(at, statement, store, index, taken)


def _target(statement: ast.stmt) -> ast.Subscript | None:
    """What a statement writes rows of: ``store[row] = x`` or ``store[row].copy_(x)``."""
    target: ast.expr | None = None
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        func = statement.value.func
        target = func.value if isinstance(func, ast.Attribute) and func.attr in WRITES else None
    return target if isinstance(target, ast.Subscript) else None


def _value(statement: ast.stmt) -> ast.expr:
    if isinstance(statement, ast.Assign):
        return statement.value
    assert isinstance(statement, ast.Expr)
    call = statement.value
    assert isinstance(call, ast.Call)
    return call.args[0] if call.args else call


def _store(node: ast.expr) -> str | None:
    """A name, or what one holds by a key: ``self.obs``, ``self.data["obs"]``."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        held = name_of(node.value)
        return f"{held}.{node.slice.value!s}" if held is not None else None
    return name_of(node)


def _given(statement: ast.stmt, name: str) -> ast.expr | None:
    """What an assignment gives to a name, and to it alone."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return statement.value if name_of(statement.targets[0]) == name else None
    return None


def _last(store: str) -> str:
    return store.rpartition(".")[2]


def _are_joined(module: Module, early: set[str], late: set[str]) -> bool:
    """Whether the program joins what two such stores hold, by their names: an input, and not what it is compared with."""
    for call in module.nodes(ast.Call):
        if last_name(call.func) in JOINS:
            named = {_last(n) for part in ast.walk(call) if (n := name_of(part)) is not None}
            if named & early and named & late:
                return True
    return False


def _is_same(one: Write, other: Write) -> bool:
    return ast.dump(one.index) == ast.dump(other.index)


def _named(node: ast.expr) -> set[str]:
    """The names that a number is made of: locals, and attributes with what they belong to."""
    return {
        n
        for part in ast.walk(node)
        if isinstance(part, (ast.Name, ast.Attribute)) and (n := name_of(part)) is not None
    } - {"self", "torch", "np", "numpy"}


def _steps(module: Module, statement: ast.stmt, index: ast.expr) -> set[str]:
    """The numbers of the index that a statement moves on from where they were, itself or by a method of the class."""
    # What is done at times only is another count.
    if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr)):
        return set()
    names = _named(index)
    parts = list(ast.walk(statement))
    call = statement.value if isinstance(statement, ast.Expr) else None
    holder = module.method_class(statement)
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and holder is not None:
        method = call.func.attr if name_of(call.func.value) == "self" else None
        inner = [m for m in holder.body if isinstance(m, ast.FunctionDef) and m.name == method]
        parts += [part for m in inner for part in ast.walk(m)]
    return {n for part in parts if (n := _moved(part)) is not None} & names


def _moved(node: ast.AST) -> str | None:
    """The name that a statement moves on: ``n += 1``, ``n = (n + 1) % rows``."""
    if isinstance(node, ast.AugAssign):
        return name_of(node.target) if isinstance(node.op, (ast.Add, ast.Sub)) else None
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        name = name_of(node.targets[0])
        return name if name is not None and name in _named(node.value) else None
    return None


def _after_all(
    module: Module, block: Sequence[ast.stmt], step: int, first: Write, late: Sequence[Write]
) -> tuple[Rewrite, ...]:
    """The step, and what knows its number, behind the last write; a number that was taken again is not taken again.

    None where a write needs what would be moved behind it.
    """
    stepped, last = _steps(module, block[step], first.index), late[-1]
    moved: list[ast.stmt] = []
    gone: list[ast.stmt] = []
    own, taken = {w.at for w in late}, {w.taken for w in late}
    for at in sorted(set(range(step, last.at)) - own):
        statement = block[at]
        if at in taken:
            is_again = any(ast.dump(statement) == ast.dump(block[m]) for m in range(step))
            gone += [statement] if is_again else []
        elif at == step or stepped & {name_of(part) for part in ast.walk(statement)}:
            moved.append(statement)
    made = {n for s in moved for n in _bound(s)} - stepped
    needed = {n for w in late for part in ast.walk(w.statement) if (n := name_of(part)) is not None}
    left = [block[at] for at in range(step, last.at) if block[at] not in moved and block[at] not in gone]
    needed |= {n for s in left for part in ast.walk(s) if (n := name_of(part)) is not None}
    if made & needed or any(getattr(s, "orelse", None) for s in moved):
        return ()
    text = "\n".join(module.segment(s) for s in (last.statement, *moved))
    return (
        *(Rewrite(module, s, "") for s in (*moved, *gone)),
        Rewrite(module, last.statement, text),
    )


def _bound(statement: ast.stmt) -> set[str]:
    """The names and attributes that a statement gives a value."""
    return {
        n
        for part in ast.walk(statement)
        if isinstance(getattr(part, "ctx", None), ast.Store) and (n := name_of(part)) is not None
    }
