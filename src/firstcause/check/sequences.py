"""What a loop goes over, through the wrappers that only count or show progress: batches, or one item after the other."""

from __future__ import annotations

import ast

from firstcause.check.code import Code, Loop
from firstcause.source.callsites import last_name

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


def targets_of(loop: Loop) -> set[str]:
    """The names that a ``for`` loop binds."""
    assert isinstance(loop.node, (ast.For, ast.AsyncFor))
    return {n.id for n in ast.walk(loop.node.target) if isinstance(n, ast.Name)}


def over_items(code: Code, loop: Loop) -> bool:
    """Whether each round of a ``for`` loop takes one item of many: no batch, no count, no few that are written out."""
    over = looped_over(loop)
    while isinstance(over, ast.Call) and over.args and last_name(over.func) in ("zip", "sorted"):
        over = over.args[0]
    if over is None or any("batch" in name or "chunk" in name for name in targets_of(loop)):
        return False
    for origin in code.origins(loop.module, over):
        if isinstance(origin.node, (ast.List, ast.Tuple)) and len(origin.node.elts) < FEW:
            return False
        if isinstance(origin.node, ast.Call) and last_name(origin.node.func) in BATCHES:
            return False
    return True
