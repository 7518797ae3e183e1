"""The test split of a data set is what is trained on.

Why: nothing is left to judge the model by, and published figures of that split mean nothing any more.
Refuted by: a data set that has no other split in the program, a debugging run.
Holds for: transformers, trl with datasets.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.check.trainers import trainer_runs
from firstcause.schema.finding import Category, Finding

SLUG = "trained-on-test-split"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for run in trainer_runs(code):
        train = run.given("train_dataset")
        evaluate = run.given("eval_dataset")
        if train is not None and _split(train) == "test" and (evaluate is None or _split(evaluate) != "test"):
            text = f"train_dataset is the test split ({ast.unparse(train)})"
            yield finding(SLUG, CATEGORY, run.call.module, train, text, argument="train_dataset")


def _split(node: ast.expr) -> str:
    """The part's name in ``data["test"]``."""
    found = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
    return (
        str(node.slice.value)
        if found and isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
        else ""
    )


_BODY = """
from datasets import load_dataset
from transformers import Trainer

data = load_dataset("org/set")

def main(model, args):
    Trainer(model=model, args=args, train_dataset={train}, eval_dataset={evaluate}).train(){mark}
"""
BAD = (
    Example(_BODY.format(train='data["test"]', evaluate='data["validation"]', mark="  # found")),
    Example(_BODY.format(train='data["test"]', evaluate="None", mark="  # found")),
)
GOOD = (
    Example(_BODY.format(train='data["train"]', evaluate='data["test"]', mark="")),
    Example(_BODY.format(train='data["train"]', evaluate="None", mark="")),
    Example(_BODY.format(train="data", evaluate='data["test"]', mark="")),
)
