"""Patience is counted by hand where the trainer in use has early stopping.

Why: a callback also keeps the best checkpoint and survives a resume; the counter starts anew each time.
Refuted by: a loop of one's own that was asked for, or that no trainer drives.
Holds for: transformers, lightning.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.check.trainers import trainer_runs
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module

SLUG = "hand-written-early-stopping"
CATEGORY: Category = "overengineering"
HOLDS: Mapping[str, str] = {}

READY = {
    "trainer": "transformers.EarlyStoppingCallback",
    "trl": "transformers.EarlyStoppingCallback",
    "lightning": "EarlyStopping",
}


def find(code: Code) -> Iterator[Finding]:
    asked = {str(i.value) for i in code.asked("framework") if i.polarity == "require"}
    used = {"trainer"} if trainer_runs(code) else set()
    used |= {"lightning"} if code.calls("lightning.Trainer") else set()
    known = next((READY[n] for n in ("trainer", "trl", "lightning") if n in asked | used), "")
    if not known or any(
        c.name.endswith(known) for c in code.methods_and_calls("EarlyStoppingCallback", "EarlyStopping")
    ):
        return
    for module in code.modules:
        for node in module.nodes(ast.If):
            if _gives_up(module, node):
                text = f"patience is counted by hand; {known} does it and keeps the best checkpoint"
                yield finding(SLUG, CATEGORY, module, node, text, key="early_stopping_patience")
                return


def _gives_up(module: Module, node: ast.If) -> bool:
    """``if waited >= patience: break`` (or should_training_stop = True), with a counter that is added to and set to 0."""
    test = node.test
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], (ast.Gt, ast.GtE, ast.Eq)):
        return False
    stops = any(_ends(n) for part in node.body for n in ast.walk(part))
    if not stops or not isinstance(test.left, (ast.Name, ast.Attribute)):
        return False
    counter = ast.unparse(test.left)
    added = any(ast.unparse(n.target) == counter for n in module.nodes(ast.AugAssign))
    cleared = [n for n in module.nodes(ast.Assign) if ast.unparse(n.targets[0]) == counter]
    zeroed = [n for n in cleared if isinstance(n.value, ast.Constant) and n.value.value == 0]
    # Set to 0 at the start, and again at each better figure.
    return (
        added and len(zeroed) >= 2 and any(isinstance(p, ast.If) for n in zeroed for p in module.ancestors(n))
    )


def _ends(node: ast.AST) -> bool:
    """A break, a return of True, or a flag that is set to True."""
    if isinstance(node, ast.Break):
        return True
    value = node.value if isinstance(node, (ast.Return, ast.Assign)) else None
    return isinstance(value, ast.Constant) and value.value is True


_BODY = """
import torch
{use}

def fit(net, loader, score, patience=3):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    waited, best = 0, 0.0
    waited = 0
    for epoch in range(99):
        for x, y in loader:
            opt.zero_grad()
            torch.nn.functional.mse_loss(net(x), y).backward()
            opt.step()
        if score(net) > best:
            best = score(net)
            waited = 0
        else:
            waited += 1
        if waited >= patience:{mark}
            break
"""
BAD = (
    Example(_BODY.format(use="", mark="  # found"), asked={"framework": "trainer"}),
    Example(
        _BODY.format(use="import lightning\n\ntrainer = lightning.Trainer(max_epochs=1)", mark="  # found")
    ),
)
GOOD = (
    Example(_BODY.format(use="", mark=""), asked={"framework": "pytorch"}),
    Example(_BODY.format(use="", mark="")),
    Example(
        """
from lightning import Trainer
from lightning.callbacks import EarlyStopping

trainer = Trainer(callbacks=[EarlyStopping("loss", patience=3)])
""",
        asked={"framework": "lightning"},
    ),
)
