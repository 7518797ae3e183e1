"""Figures are written to a file by hand where a tracker was asked for, or the trainer in use has one.

Why: the tracker's curves stay empty, and the file has to be read by a program of its own.
Refuted by: the tracker used as well, a file that was asked for.
Holds for: tensorboard, wandb, mlflow.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, Loop, finding
from firstcause.check.events import around, training_loops
from firstcause.check.makers import call_of, maker
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "hand-written-logging"
CATEGORY: Category = "overengineering"
HOLDS: Mapping[str, str] = {}

# What each tracker is imported from.
TRACKERS = {
    "tensorboard": (
        "torch.utils.tensorboard",
        "tensorboardX",
        "tensorboard",
        "lightning",
        "accelerate",
        "transformers",
    ),
    "wandb": ("wandb", "lightning", "accelerate", "transformers"),
    "mlflow": ("mlflow", "lightning", "accelerate", "transformers"),
}


def find(code: Code) -> Iterator[Finding]:
    yield from _callbacks(code)
    wanted = {str(i.value).lower() for i in code.asked("report_to") if i.polarity == "require"} & set(
        TRACKERS
    )
    if len(wanted) != 1 or any(code.asked(k) for k in ("output_path",)):
        return
    tracker = wanted.pop()
    if any(code.imports(library) for library in TRACKERS[tracker]):
        return
    for loop in training_loops(code):
        for place in (loop, *around(code, loop)):
            node = _writes(code, place)
            if node is not None:
                text = f"figures are written to a file by hand and {tracker} was asked for; it is not used"
                yield finding(
                    SLUG, CATEGORY, place.module, node, text, key="report_to", asked=tracker, got="file"
                )
                return


def _callbacks(code: Code) -> Iterator[Finding]:
    """Callbacks of a trainer whose on_log writes the figures to a file: the trainer keeps them in its log_history."""
    for cls in code.subclasses_of(
        "transformers.TrainerCallback", "transformers.trainer_callback.TrainerCallback"
    ):
        assert isinstance(cls.node, ast.ClassDef)
        for method in cls.node.body:
            if not isinstance(method, ast.FunctionDef) or method.name != "on_log":
                continue
            for node in ast.walk(method):
                if isinstance(node, ast.Call) and call_of(code, cls.module, node).name in (
                    "json.dump",
                    "builtins.open",
                    ".writerow",
                ):
                    text = (
                        "on_log writes figures to a file that trainer_state.json and report_to hold already"
                    )
                    yield finding(SLUG, CATEGORY, cls.module, cls.node, text, key="report_to")
                    break


def _writes(code: Code, loop: Loop) -> ast.AST | None:
    """A row that the loop writes to a file: csv's writerow, json.dump, or write of an open file."""
    for node in loop.nodes:
        if not isinstance(node, ast.Call):
            continue
        call = call_of(code, loop.module, node)
        if call.name in ("json.dump", ".writerow"):
            return node
        if call.name == ".write" and call.receiver is not None:
            made = maker(code, loop.module, call.receiver)
            if made is not None and made.name in ("builtins.open", ".open"):
                return node
    return None


_BODY = """
import csv
{imports}
import torch

def fit(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    with open("log.csv", "w") as file:
        rows = csv.writer(file)
        for x, y in loader:
            opt.zero_grad()
            loss = torch.nn.functional.mse_loss(net(x), y)
            loss.backward()
            opt.step()
            {write}
"""
_ROW = "rows.writerow([loss.item()])"
BAD: tuple[Example, ...] = (
    Example(_BODY.format(imports="", write=_ROW + "  # found"), asked={"report_to": "wandb"}),
    Example(
        _BODY.format(imports="", write="file.write(str(loss.item()))  # found"),
        asked={"report_to": "tensorboard"},
    ),
)
_CALLBACK = """
import json
from transformers import Trainer, TrainerCallback

class Log(TrainerCallback):{mark}
    def on_log(self, args, state, control, logs=None, **kwargs):
        {body}
"""
BAD = (
    *BAD,
    Example(_CALLBACK.format(mark="  # found", body='json.dump(logs, open("log.json", "a"))')),
)
GOOD = (
    Example(_CALLBACK.format(mark="", body="print(logs)")),
    Example(_BODY.format(imports="", write=_ROW)),
    Example(_BODY.format(imports="import wandb", write=_ROW), asked={"report_to": "wandb"}),
    Example(_BODY.format(imports="", write="print(loss.item())"), asked={"report_to": "wandb"}),
)
