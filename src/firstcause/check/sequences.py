"""What a loop goes over, through the wrappers that only count or show progress: batches, or one item after the other."""

from __future__ import annotations

import ast
from typing import Any, TypeGuard

from firstcause.check.code import Call, Code, Loop
from firstcause.source.callsites import last_name
from firstcause.source.module import FUNCTIONS, Module

# Fewer prompts than this, written out in the code, are a demonstration.
FEW = 8
BATCHES = frozenset(
    {"range", "DataLoader", "batched", "count", "iter", "chunks", "chunked", "split", "ichunked", "sliced"}
    | {"array_split", "grouper", "groupby", "batch", "iter_batches", "to_batches"}
)
THROUGH = frozenset({"enumerate", "tqdm", "trange", "track", "islice", "progress_bar"})


def looped_over(loop: Loop) -> ast.expr | None:
    """The expression that a ``for`` loop goes over; None for a ``while`` loop."""
    if not isinstance(loop.node, (ast.For, ast.AsyncFor)):
        return None
    over = loop.node.iter
    while isinstance(over, ast.Call) and over.args and last_name(over.func) in THROUGH:
        over = over.args[0]
    return over


def over_items(code: Code, loop: Loop) -> bool:
    """Whether each round of a ``for`` loop takes one item of many: no batch, no count, no few that are written out."""
    if not isinstance(loop.node, (ast.For, ast.AsyncFor)):
        return False
    return takes_items(code, loop.module, loop.node.iter, loop.node.target)


def takes_items(code: Code, module: Module, over: ast.expr, target: ast.expr) -> bool:
    """The same of what a loop or a comprehension goes over, and of the names that it binds."""
    names = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
    if any("batch" in name or "chunk" in name for name in names):
        return False
    while isinstance(over, ast.Call) and over.args and last_name(over.func) in THROUGH | {"zip", "sorted"}:
        over = over.args[0]
    for origin in code.origins(module, over):
        if isinstance(origin.node, (ast.List, ast.Tuple)) and len(origin.node.elts) < FEW:
            return False
        if isinstance(origin.node, ast.Call) and last_name(origin.node.func) in BATCHES:
            return False
        if isinstance(origin.node, ast.expr) and _gives_parts(code, origin.module, origin.node):
            return False
    return True


def _gives_parts(code: Code, module: Module, node: ast.expr) -> bool:
    """Whether what is gone over is made of parts: ``[rows[i : i + n] for i in …]``, or a generator that yields such."""
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return _is_part(node.elt)
    if not isinstance(node, ast.Call):
        return False
    # Tables are read in parts where somebody says so.
    if any(k.arg == "chunksize" for k in node.keywords):
        return True
    made = [d.node for d in code.callees_of(Call(code, module, node, ""))]
    yielded = [y.value for f in made if not isinstance(f, ast.ClassDef) for y in ast.walk(f) if _is_yield(y)]
    return any(v is not None and (_is_part(v) or _is_list(made, v)) for v in yielded)


def _is_yield(node: ast.AST) -> TypeGuard[ast.Yield]:
    return isinstance(node, ast.Yield)


def _is_part(node: ast.expr) -> bool:
    """A slice of something, whatever it is made into then, or several values together."""
    if isinstance(node, ast.Call) and (node.args or isinstance(node.func, ast.Attribute)):
        inner = node.args[0] if node.args else node.func
        return _is_part(inner.value if isinstance(inner, ast.Attribute) else inner)
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Slice)
    return isinstance(node, (ast.ListComp, ast.List))


def _is_list(functions: list[Any], node: ast.expr) -> bool:
    """Whether a name is a list in the function that yields it: what has been put together so far."""
    return isinstance(node, ast.Name) and any(
        isinstance(n, (ast.Assign, ast.AnnAssign))
        and n.value is not None
        and (_is_part(n.value) or ast.unparse(n.value).startswith(("list(", "[")))
        and any(
            isinstance(t, ast.Name) and t.id == node.id
            for t in (n.targets if isinstance(n, ast.Assign) else [n.target])
        )
        for f in functions
        for n in ast.walk(f)
    )


def repeated_by(module: Module, node: ast.AST) -> ast.comprehension | None:
    """The part of a comprehension that makes a node anew for each item, within its function."""
    inner = node
    for parent in module.ancestors(node):
        if isinstance(parent, FUNCTIONS):
            return None
        if isinstance(parent, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            # What the first part goes over is computed once.
            return None if inner is parent.generators[0] else parent.generators[-1]
        inner = parent
    return None
