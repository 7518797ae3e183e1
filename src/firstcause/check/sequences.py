"""What a loop goes over, through the wrappers that only count or show progress: batches, or one item after the other."""

from __future__ import annotations

import ast

from firstcause.check.code import Code, Loop
from firstcause.source.callsites import last_name
from firstcause.source.module import FUNCTIONS, Module

# Fewer prompts than this, written out in the code, are a demonstration.
FEW = 8
BATCHES = frozenset({"range", "DataLoader", "batched", "count", "iter", "chunks", "chunked", "split"})
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
    return True


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
