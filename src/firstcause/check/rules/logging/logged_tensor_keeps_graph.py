"""A loss is handed to a tracker as a tensor that still carries its graph.

Why: trackers keep values until they are written: each kept tensor keeps the activations of its step in memory.
Refuted by: .item(), .detach(), float().
Holds for: torch with lists and trackers that queue.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.events import events, training_loops
from firstcause.check.makers import call_of
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "logged-tensor-keeps-graph"
CATEGORY: Category = "suggestion"
HOLDS: Mapping[str, str] = {}

TRACKERS = ("wandb.log", "mlflow.log_metrics", "trackio.log", "swanlab.log")


def find(code: Code) -> Iterator[Finding]:
    if not any(code.imports(t.partition(".")[0]) for t in TRACKERS):
        return
    for loop in training_loops(code):
        losses = {
            e.call.receiver.id
            for e in events(code, loop)
            if e.kind == "backward" and e.call.module is loop.module and isinstance(e.call.receiver, ast.Name)
        }
        for node in loop.nodes:
            if (
                not isinstance(node, ast.Call)
                or call_of(code, loop.module, node).name not in TRACKERS
                or not node.args
            ):
                continue
            values = node.args[0].values if isinstance(node.args[0], ast.Dict) else []
            kept = [v for v in values if isinstance(v, ast.Name) and v.id in losses]
            if kept:
                text = f"{ast.unparse(kept[0])} goes to the tracker with its graph; .item() gives the number alone"
                yield finding(SLUG, CATEGORY, loop.module, kept[0], text)


_LOOP = """
import torch
import wandb

def fit(net, loader):
    wandb.init()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        opt.zero_grad()
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()
        opt.step()
        wandb.log({{"loss": {value}}}){mark}
"""
BAD = (
    Example(_LOOP.format(value="loss", mark="  # found")),
    Example(
        _LOOP.format(value="loss", mark="  # found")
        .replace("wandb", "mlflow")
        .replace("mlflow.log(", "mlflow.log_metrics(")
    ),
)
GOOD = (
    Example(_LOOP.format(value="loss.item()", mark="")),
    Example(_LOOP.format(value="loss.detach()", mark="")),
    Example(_LOOP.format(value="x.shape[0]", mark="")),
)
