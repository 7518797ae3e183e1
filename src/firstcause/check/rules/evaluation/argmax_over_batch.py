"""Classes are chosen along the batch instead of along the classes.

Why: argmax(0) gives, for each class, the sample that scores highest: compared with labels it is noise, or raises.
Refuted by: dimension 1 or -1, scores of a single sample.
Holds for: torch, numpy.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.evaluation import evaluation_loops
from firstcause.check.events import training_loops
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.callsites import last_name
from firstcause.source.module import Module

SLUG = "argmax-over-batch"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    loops = [e.loop for e in evaluation_loops(code)] + training_loops(code)
    compared = [
        (loop.module, n)
        for loop in {o.node: o for o in loops}.values()
        for n in loop.nodes
        if isinstance(n, ast.Compare)
    ]
    if "argmax" in code.called_names():
        compared += [(m, n) for m in code.modules for n in m.nodes(ast.Compare) if _counts_targets(m, n)]
    seen: set[ast.AST] = set()
    for module, node in compared:
        if not isinstance(node.ops[0], ast.Eq):
            continue
        for side in (node.left, *node.comparators):
            call = _argmax(code, module, side)
            if call is not None and call not in seen and _dimension(code, module, call) == 0:
                seen.add(call)
                text = "argmax over dimension 0 chooses among the samples of the batch; classes are dimension 1 (or -1)"
                yield finding(SLUG, CATEGORY, module, call, text)


def _counts_targets(module: Module, node: ast.Compare) -> bool:
    """``(guess == targets).sum()`` or ``.mean()``, whatever stands between: there are several of both."""
    names = [last_name(side).lower() for side in (node.left, *node.comparators)]
    if not any(name.endswith(("targets", "labels", "target")) for name in names):
        return False
    around = module.parents.get(node)
    while isinstance(around, (ast.Attribute, ast.Call)):
        if isinstance(around, ast.Attribute) and around.attr in ("sum", "mean"):
            return True
        around = module.parents.get(around)
    return False


def _argmax(code: Code, module: Module, side: ast.expr) -> ast.Call | None:
    origins = code.origins(module, side)
    node = origins[0].node if len(origins) == 1 else side
    while (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("view", "reshape", "squeeze")
    ):
        node = node.func.value
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    # argmax of one sample's scores: its input was indexed.
    given = node.func.value
    return (
        node
        if node.func.attr == "argmax" and not isinstance(given, ast.Subscript) and node in module.parents
        else None
    )


def _dimension(code: Code, module: Module, call: ast.Call) -> object:
    of_library = isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) in (
        "torch",
        "np",
        "numpy",
    )
    named = next((k.value for k in call.keywords if k.arg in ("dim", "axis")), None)
    place = 1 if of_library else 0
    given = named if named is not None else call.args[place] if len(call.args) > place else None
    known = code.constant(module, given) if given is not None else None
    return known.value if known is not None else None


_BODY = """
import torch

@torch.no_grad()
def validate(net, loader):
    net.eval()
    right = 0
    for x, y in loader:
        out = net(x)
        guess = {guess}{mark}
        right += (guess == y).sum().item()
    return right
"""
_FIGURE = """
def accuracy(predictions, targets):
    predictions = predictions.argmax(dim={dim}).view(targets.shape){mark}
    return {read}
"""
BAD = (
    Example(
        _FIGURE.format(dim=0, read="(predictions == targets).sum().float() / len(targets)", mark="  # found")
    ),
    Example(_BODY.format(guess="out.argmax(0)", mark="  # found")),
    Example(_BODY.format(guess="torch.argmax(out, dim=0)", mark="  # found")),
)
GOOD = (
    Example(_FIGURE.format(dim=1, read="(predictions == targets).sum().float() / len(targets)", mark="")),
    Example(_FIGURE.format(dim=0, read="bool(predictions == targets)", mark="")),
    Example(_BODY.format(guess="out.argmax(1)", mark="")),
    Example(_BODY.format(guess="torch.argmax(out, dim=-1)", mark="")),
    Example(_BODY.format(guess="out[0].argmax(0)", mark="")),
)
