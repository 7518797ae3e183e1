"""A loop's variable takes the name of what it goes over, and the loop is entered again.

Why: the second time it goes over the last item of the first time: an error, or an epoch over one batch.
Refuted by: a loop that runs once, the name bound anew before each time.
Holds for: Python, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, Loop, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "iterable-overwritten"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for loop in code.loops():
        if not isinstance(loop.node, ast.For):
            continue
        outer = code.loop_around(loop.module, loop.node)
        over = _over(loop.node.iter)
        if outer is None or over is None:
            continue
        bound = {
            n.id
            for n in ast.walk(loop.node.target)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        if over in bound and not _bound_anew(outer, loop, over):
            text = f"{over} is overwritten by its own items; the next round (line {outer.node.lineno}) goes over the last one"
            yield finding(SLUG, CATEGORY, loop.module, loop.node, text, argument=over)


def _over(node: ast.expr) -> str | None:
    """The name that a loop goes over, through enumerate, tqdm, zip of it alone."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
        if node.func.id not in ("enumerate", "tqdm", "iter", "reversed"):
            return None
        node = node.args[0]
    return node.id if isinstance(node, ast.Name) else None


def _bound_anew(outer: Loop, inner: Loop, name: str) -> bool:
    """Whether the outer loop binds the name itself, or leaves after the first round."""
    inside = set(ast.walk(inner.node))
    targets = ast.walk(outer.node.target) if isinstance(outer.node, (ast.For, ast.AsyncFor)) else ()
    if any(isinstance(n, ast.Name) and n.id == name for n in targets):
        return True
    for node in outer.nodes:
        if node in inside:
            continue
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            return True
        if isinstance(node, (ast.Return, ast.Break)):
            return True
    return any(isinstance(n, (ast.Return, ast.Break)) for n in inside)


BAD = (
    Example("""
def fit(model, data, epochs):
    for epoch in range(epochs):
        for step, data in enumerate(data):  # found
            model(data)
"""),
    Example("""
def fit(model, batch):
    for _ in range(3):
        for batch in batch:  # found
            model(batch)
"""),
)
GOOD = (
    Example("""
def fit(model, data, epochs):
    for epoch in range(epochs):
        for batch in data:
            model(batch)
"""),
    Example("""
def flat(rows):
    for row in rows:
        for row in row:
            print(row)
"""),
    Example("""
def once(model, data):
    for data in data:
        model(data)
"""),
)
