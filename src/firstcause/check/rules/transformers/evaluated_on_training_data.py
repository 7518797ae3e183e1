"""The same data are trained on and evaluated on.

Why: the figures then say how well the training set is remembered, and early stopping never sees over-fitting.
Refuted by: another split, a part of the data, a program that says it overfits on purpose.
Holds for: transformers, trl.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.check.trainers import trainer_runs
from firstcause.schema.finding import Category, Finding

SLUG = "evaluated-on-training-data"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for run in trainer_runs(code):
        train, evaluate = run.given("train_dataset"), run.given("eval_dataset")
        if train is None or evaluate is None or not _same(train, evaluate):
            continue
        text = f"eval_dataset is the training set ({ast.unparse(evaluate)}): the figures measure memory"
        yield finding(SLUG, CATEGORY, run.call.module, evaluate, text, argument="eval_dataset")


def _same(train: ast.expr, evaluate: ast.expr) -> bool:
    """Written the same; names of the same text in one call are the same object."""
    return ast.dump(train) == ast.dump(evaluate) and isinstance(
        train, (ast.Name, ast.Attribute, ast.Subscript)
    )


_BODY = """
from transformers import Trainer

def main(model, args, data):
    Trainer(
        model=model,
        args=args,
        train_dataset={train},
        eval_dataset={evaluate},{mark}
    ).train()
"""
BAD = (
    Example(_BODY.format(train="data", evaluate="data", mark="  # found")),
    Example(_BODY.format(train='data["train"]', evaluate='data["train"]', mark="  # found")),
)
GOOD = (
    Example(_BODY.format(train='data["train"]', evaluate='data["test"]', mark="")),
    Example(_BODY.format(train="data", evaluate="None", mark="")),
    Example(_BODY.format(train="data.select(range(10))", evaluate="data.select(range(10))", mark="")),
)
