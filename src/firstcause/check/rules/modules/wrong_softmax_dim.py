"""Attention weights are normalised over the batch, or over the queries, and what they weigh is summed over another axis.

Why: a sample's weights then depend on the others in its batch and do not sum to 1: the pooled values change with the batch.
Refuted by: a sum over the axis of the softmax, weights that are normalised again, an axis that is computed.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.callsites import last_name
from firstcause.source.module import Module

SLUG = "wrong-softmax-dim"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}
# Stands for any number of axes: an axis that is counted from the back is told, one from the front is not.
_NEGATIVE = 1000


def find(code: Code) -> Iterator[Finding]:
    yield from _over_queries(code)
    for call in code.methods_and_calls("sum"):
        product = _summed(call.node)
        axis = _axis(code, call.module, call.node, product)
        if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult) or not axis:
            continue
        for side in (product.left, product.right):
            softmax = _softmax(code, call.module, side)
            if softmax is None or _axis(code, call.module, softmax, _normalised(softmax)) != 0:
                continue
            text = (
                f"the weights are normalised over axis 0, the batch, and what they weigh is summed over axis {axis}: "
                f"softmax with dim={axis} makes each sample's weights sum to 1"
            )
            yield finding(
                SLUG,
                CATEGORY,
                call.module,
                softmax,
                text,
                argument="dim",
                related=(call.module.site(call.node),),
            )


def _over_queries(code: Code) -> Iterator[Finding]:
    """``softmax(q @ k.transpose(1, 2), dim=1) @ v``: the product sums over the last axis, the softmax over the one before."""
    for module in code.modules:
        for node in module.nodes(ast.BinOp):
            softmax = _softmax(code, module, node.left) if isinstance(node.op, ast.MatMult) else None
            scores = _normalised(softmax) if softmax is not None else None
            if softmax is None or scores is None or _summed_after(module, node):
                continue
            axis = _given_axis(code, module, softmax, scores)
            rank = _rank_of_scores(code, module, scores)
            if rank and axis is not None and axis % rank == rank - 2:
                text = (
                    f"the scores are normalised over axis {axis}, the queries, and the product sums over the last, the keys: "
                    "softmax with dim=-1 makes the weights of each query sum to 1"
                )
                yield finding(SLUG, CATEGORY, module, softmax, text, argument="dim")


def _summed_after(module: Module, product: ast.BinOp) -> bool:
    """Whether the weights are summed over too, as where slots share what they attend to."""
    name = product.left.id if isinstance(product.left, ast.Name) else ""
    scope = module.function(product) or module.tree
    return bool(name) and any(
        isinstance(n, ast.Attribute)
        and n.attr == "sum"
        and isinstance(n.value, ast.Name)
        and n.value.id == name
        for n in ast.walk(scope)
    )


def _given_axis(code: Code, module: Module, call: ast.Call, operand: ast.expr) -> int | None:
    rest = [a for a in call.args if a is not operand]
    given = next((k.value for k in call.keywords if k.arg in ("dim", "axis")), rest[0] if rest else None)
    known = code.constant(module, given) if given is not None else None
    return known.value if known is not None and type(known.value) is int else None


def _rank_of_scores(code: Code, module: Module, node: ast.expr) -> int:
    """How many axes scores have that are a product of queries and turned keys, by the axes that are turned; 0 where unknown."""
    for origin in code.origins(module, node):
        for part in ast.walk(origin.node):
            if not isinstance(part, ast.BinOp) or not isinstance(part.op, ast.MatMult):
                continue
            turned = part.right
            if (
                isinstance(turned, ast.Call)
                and last_name(turned.func) == "transpose"
                and len(turned.args) == 2
            ):
                axes = [code.constant(origin.module, a) for a in turned.args]
                values = sorted(a.value for a in axes if a is not None and type(a.value) is int)
                if len(values) == 2 and values[0] >= 0 and values[1] == values[0] + 1:
                    return int(values[1]) + 1
                if values == [-2, -1]:
                    # Of the axes before these nothing is known: only a negative one can be told.
                    return _NEGATIVE
    return 0


def _summed(call: ast.Call) -> ast.expr | None:
    """What is summed: the object of the method, or the first argument of torch.sum."""
    if isinstance(call.func, ast.Attribute) and last_name(call.func.value) != "torch":
        return call.func.value
    return call.args[0] if call.args else None


def _normalised(call: ast.Call) -> ast.expr | None:
    on = call.func.value if isinstance(call.func, ast.Attribute) else None
    if on is not None and last_name(on) not in ("torch", "F", "functional"):
        return on
    return call.args[0] if call.args else None


def _axis(code: Code, module: Module, call: ast.Call, operand: ast.expr | None) -> int | None:
    """The one axis that a call names, from the front; None for any other."""
    rest = [a for a in call.args if a is not operand]
    given = next((k.value for k in call.keywords if k.arg in ("dim", "axis")), rest[0] if rest else None)
    known = code.constant(module, given) if given is not None else None
    return known.value if known is not None and type(known.value) is int and known.value >= 0 else None


def _softmax(code: Code, module: Module, node: ast.expr) -> ast.Call | None:
    """The one softmax that an expression is, in the same function."""
    origins = code.origins(module, node)
    made = origins[0].node if len(origins) == 1 else None
    same = made is not None and module.function(made) is module.function(node)
    return made if same and isinstance(made, ast.Call) and last_name(made.func) == "softmax" else None


_POOL = """
import torch
from torch import nn

class Pool(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.score = nn.Linear(width, 1)

    def forward(self, states):
        weights = {softmax}{mark}
        return {pooled}
"""
_TORCH = "torch.softmax(self.score(states), dim=0)"
BAD = (
    Example(_POOL.format(softmax=_TORCH, pooled="(weights * states).sum(dim=1)", mark="  # found")),
    Example(
        _POOL.format(
            softmax="self.score(states).softmax(0)", pooled="torch.sum(states * weights, 1)", mark="  # found"
        )
    ),
)
GOOD = (
    Example("""
import torch
from torch import nn

class Slots(nn.Module):
    def forward(self, slots, x):
        shares = (self.q(slots) @ self.k(x).transpose(1, 2)).softmax(dim=1)
        updates = shares @ self.v(x)
        return updates / shares.sum(-1, keepdim=True)
"""),
    Example(_POOL.format(softmax=_TORCH, pooled="(weights * states).sum(dim=0)", mark="")),
    Example(
        _POOL.format(
            softmax=_TORCH.replace("dim=0", "dim=1"), pooled="(weights * states).sum(dim=1)", mark=""
        )
    ),
    Example(
        _POOL.format(
            softmax="torch.softmax(self.score(states), dim=0)\n        weights = weights / weights.sum(1, keepdim=True)",
            pooled="(weights * states).sum(dim=1)",
            mark="",
        )
    ),
)
