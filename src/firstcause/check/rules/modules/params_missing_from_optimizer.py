"""A part is made trainable again and the optimizer is given other parts alone.

Why: its gradients are computed and never used: it stays as it was loaded, and what was to be fine-tuned is not.
Refuted by: an optimizer of the whole model or of a list that holds the part, a group that is added later, a second optimizer.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.check.steps import OPTIMIZERS
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module

SLUG = "params-missing-from-optimizer"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

GIVES = ("parameters", "named_parameters")


def find(code: Code) -> Iterator[Finding]:
    optimizers = code.calls(*(f"torch.optim.{name}" for name in sorted(OPTIMIZERS)))
    if not optimizers or code.methods("add_param_group"):
        return
    given = [_parts(call.module, call.node) for call in optimizers]
    if any(parts is None for parts in given):
        # What one of them is given cannot be told.
        return
    held = {part for parts in given for part in parts or ()}
    handed = _handed_on(code, {call.node for call in optimizers})
    for module, node, part in _thawed(code):
        if any(_holds(whole, part) or _holds(part, whole) for whole in held | handed):
            continue
        base = part.split(".")[0].split("[")[0]
        owners = (c for c, parts in zip(optimizers, given, strict=True) if _is_of(parts or (), base))
        owner = next((c for c in owners if c.module is module), None)
        if owner is None or base == "self" or module.function(owner.node) is not module.function(node):
            continue
        text = (
            f"{part} is made trainable (line {node.lineno}) and this optimizer is given only {', '.join(sorted(held))}: it is "
            f"never updated; give it {part}.parameters() as well"
        )
        yield finding(SLUG, CATEGORY, module, owner.node, text, key="freeze", related=(module.site(node),))


def _handed_on(code: Code, optimizers: set[ast.Call]) -> set[str]:
    """Whose parameters other calls are given: an optimizer of another library among them."""
    return {
        ast.unparse(inner.func.value)
        for module in code.modules
        for call in module.nodes(ast.Call)
        if call not in optimizers
        for argument in (*call.args, *(k.value for k in call.keywords))
        for inner in ast.walk(argument)
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in GIVES
    }


def _parts(module: Module, call: ast.Call) -> tuple[str, ...] | None:
    """Whose parameters an optimizer is given, as they are written: ``model.head``; None where something else is given."""
    first = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "params"), None)
    if first is None or isinstance(first, ast.Name):
        return None
    calls = [n for n in ast.walk(first) if isinstance(n, ast.Call)]
    parts = [
        n.func.value
        for n in calls
        if isinstance(n.func, ast.Attribute) and n.func.attr in GIVES and not n.args
    ]
    plain = len(parts) == len([n for n in calls if n not in (first,) or _gives(n)])
    simple = isinstance(first, (ast.List, ast.Tuple)) or _gives(first)
    if not parts or not plain or not simple or any(isinstance(n, ast.Starred) for n in ast.walk(first)):
        return None
    return tuple(ast.unparse(p) for p in parts)


def _gives(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in GIVES


def _thawed(code: Code) -> Iterator[tuple[Module, ast.stmt, str]]:
    """What is made trainable: ``for p in model.layer4.parameters(): p.requires_grad = True``, ``part.requires_grad_(True)``."""
    for module in code.modules:
        for loop in module.nodes(ast.For):
            over = loop.iter
            if _gives(over) and any(_thaws(s) for s in loop.body):
                yield module, loop, ast.unparse(over.func.value)  # type: ignore[attr-defined]
    for call in code.methods("requires_grad_"):
        given = call.constant("requires_grad", 0)
        statement = call.module.statement(call.node)
        on = (given is None and not call.node.args) or (given is not None and given.value is True)
        inside = code.loop_around(call.module, call.node)
        if (
            on
            and inside is None
            and isinstance(call.receiver, ast.Attribute)
            and isinstance(statement, ast.stmt)
        ):
            yield call.module, statement, ast.unparse(call.receiver)


def _thaws(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
        plain = isinstance(target, ast.Attribute) and target.attr == "requires_grad"
        return plain and isinstance(statement.value, ast.Constant) and statement.value.value is True
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    given = [*call.args, *(k.value for k in call.keywords)]
    on = not given or (isinstance(given[0], ast.Constant) and given[0].value is True)
    return call.func.attr == "requires_grad_" and on


def _holds(whole: str, part: str) -> bool:
    """Whether one is the other or a part of it, as they are written."""
    return part == whole or part.startswith((f"{whole}.", f"{whole}["))


def _is_of(parts: tuple[str, ...], base: str) -> bool:
    return any(_holds(base, p) for p in parts)


_BODY = """
import torch
from torch import nn
from torchvision import models

def fit(loader):
    net = models.resnet18(weights="DEFAULT")
    for p in net.parameters():
        p.requires_grad = False
    for p in net.layer4.parameters():
        p.requires_grad = True
    net.fc = nn.Linear(512, 7)
    opt = torch.optim.AdamW({given}, lr=1e-4){mark}
    for x, y in loader:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
BAD = (
    Example(_BODY.format(given="net.fc.parameters()", mark="  # found")),
    Example(
        _BODY.replace(
            "for p in net.layer4.parameters():\n        p.requires_grad = True",
            "net.layer4.requires_grad_(True)",
        ).format(given="net.fc.parameters()", mark="  # found")
    ),
)
GOOD = (
    Example("""
import torch
from torch import nn

class Solver:
    def __init__(self):
        self.net = nn.Linear(2, 1)
        self.points = torch.rand(100, 2)
        self.points.requires_grad_(True)
        self.opt = torch.optim.Adam(self.net.parameters())
"""),
    Example(_BODY.format(given="net.parameters()", mark="")),
    Example(_BODY.format(given="[*net.fc.parameters(), *net.layer4.parameters()]", mark="")),
    Example(
        _BODY.format(
            given="[{'params': net.fc.parameters()}, {'params': net.layer4.parameters(), 'lr': 1e-5}]",
            mark="",
        )
    ),
    Example(_BODY.format(given="[p for p in net.parameters() if p.requires_grad]", mark="")),
)
