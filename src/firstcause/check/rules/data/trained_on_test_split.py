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
from firstcause.source.module import Module

SLUG = "trained-on-test-split"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for run in trainer_runs(code):
        train = run.given("train_dataset")
        evaluate = run.given("eval_dataset")
        if train is None or _split(train) != "test":
            continue
        if evaluate is None or _split(evaluate) != "test" or _has_training_part(code, run.call.module, train):
            text = f"train_dataset is the test split ({ast.unparse(train)})"
            yield finding(SLUG, CATEGORY, run.call.module, train, text, argument="train_dataset")


def _has_training_part(code: Code, module: Module, train: ast.expr) -> bool:
    """Whether the data set is loaded from files of which some are its training part."""
    if not isinstance(train, ast.Subscript):
        return False
    loads = [o.node for o in code.origins(module, train.value) if isinstance(o.node, ast.Call)]
    files = [k.value for call in loads for k in call.keywords if k.arg == "data_files"]
    return any(
        isinstance(key, ast.Constant) and key.value == "train"
        for f in files
        if isinstance(f, ast.Dict)
        for key in f.keys
    )


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
_FILES = """
from datasets import load_dataset
from transformers import Trainer

data = load_dataset("json", data_files={{"{part}": "a.jsonl", "test": "b.jsonl"}})

def main(model, args):
    Trainer(model=model, args=args, train_dataset=data["test"], eval_dataset=data["test"]).train(){mark}
"""
BAD = (
    Example(_BODY.format(train='data["test"]', evaluate='data["validation"]', mark="  # found")),
    Example(_BODY.format(train='data["test"]', evaluate="None", mark="  # found")),
    Example(_FILES.format(part="train", mark="  # found")),
)
GOOD = (
    Example(_FILES.format(part="other", mark="")),
    Example(_BODY.format(train='data["train"]', evaluate='data["test"]', mark="")),
    Example(_BODY.format(train='data["train"]', evaluate="None", mark="")),
    Example(_BODY.format(train="data", evaluate='data["test"]', mark="")),
)
