"""A loss is summed or stored with its graph, step after step.

Why: every stored tensor keeps the graph of its step alive, so memory grows with each step until it runs out.
Refuted by: .item(), .detach() or float() on the way, gradient mode off, a sum that is itself backpropagated.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, Loop, finding
from firstcause.check.events import events, training_loops
from firstcause.check.graphs import has_graph, quiet
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module

SLUG = "loss-history-keeps-graph"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for loop in _loops(code):
        backward = [
            e.call.receiver
            for e in events(code, loop)
            if e.kind == "backward" and e.call.module is loop.module
        ]
        losses = {n.id for n in backward if isinstance(n, ast.Name)}
        losses |= {
            c.receiver.id
            for c in code.methods("backward")
            if isinstance(c.receiver, ast.Name) and c.loop is not None and c.loop.node is loop.node
        }
        for node in loop.nodes:
            kept = _kept(node)
            if kept is None or not _is_loss(kept[1], losses) or quiet(code, loop.module, node):
                continue
            if _used_later(loop, kept[0], losses) or not has_graph(code, loop.module, kept[1]):
                continue
            text = (
                f"{ast.unparse(kept[1])} is kept in {kept[0]} with its graph: memory grows by the graph of one step each step; "
                ".item() or .detach() keeps the number alone"
            )
            yield finding(SLUG, CATEGORY, loop.module, node, text)


def _loops(code: Code) -> list[Loop]:
    """The training loops, and every other loop that backpropagates a name, whatever steps then."""
    loops = {loop.node: loop for loop in training_loops(code)}
    for call in code.methods("backward"):
        if isinstance(call.receiver, ast.Name) and call.loop is not None:
            loops.setdefault(call.loop.node, call.loop)
    return list(loops.values())


def _kept(node: ast.AST) -> tuple[str, ast.expr] | None:
    """What holds on, and to which value: ``total += loss``, ``total = total + loss``, ``history.append(loss)``."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        return ast.unparse(node.target), node.value
    if (
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.BinOp)
        and isinstance(node.value.op, ast.Add)
    ):
        name = ast.unparse(node.targets[0])
        return (name, node.value.right) if ast.unparse(node.value.left) == name else None
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "append"
        and node.args
    ):
        return ast.unparse(node.func.value), node.args[0]
    return None


def _is_loss(node: ast.expr, losses: set[str]) -> bool:
    """The name that is backpropagated, alone or times a number such as the batch's size."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        return _is_loss(node.left, losses) or _is_loss(node.right, losses)
    return isinstance(node, ast.Name) and node.id in losses


def _used_later(loop: Loop, holder: str, losses: set[str]) -> bool:
    """A sum that is the loss itself, is emptied or set anew in the loop, or is backpropagated after it."""
    if holder in losses:
        return True
    module: Module = loop.module
    function = module.function(loop.node) or module.tree
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            on = ast.unparse(node.func.value)
            if node.func.attr == "backward" and holder in on:
                return True
            if on == holder and node.func.attr in ("clear", "pop", "popleft") and loop.holds(node):
                return True
        if isinstance(node, ast.Assign) and loop.holds(node):
            plain = not isinstance(node.value, ast.BinOp)
            if plain and any(ast.unparse(t) == holder for t in node.targets):
                return True
    return False


_LOOP = """
import torch

def fit(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    total, history = 0.0, []
    for x, y in loader:
        opt.zero_grad()
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()
        opt.step()
        {keep}
    return total, history
"""
BAD = (
    Example("""
import torch

def fit(net, loader, optimizer, criterion):
    history = []
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
        history.append(loss)  # found
    return history

def main(engine, data):
    net = torch.nn.Linear(4, 2)
    net, optimizer, loader = engine.make_private(net, torch.optim.SGD(net.parameters(), lr=0.1), data)
    fit(net, loader, optimizer, torch.nn.CrossEntropyLoss())
"""),
    Example(_LOOP.format(keep="total += loss  # found")),
    Example(_LOOP.format(keep="history.append(loss)  # found")),
    Example(_LOOP.format(keep="total = total + loss * len(x)  # found")),
)
GOOD = (
    Example(_LOOP.format(keep="total += loss.item()")),
    Example(_LOOP.format(keep="history.append(loss.detach())")),
    Example("""
import torch

def fit(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for batch in loader:
        total = 0.0
        for x in batch:
            loss = net(x).mean()
            total += loss
        opt.zero_grad()
        total.backward()
        opt.step()
"""),
)
