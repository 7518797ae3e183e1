"""compute_metrics hands logits to a metric of classes.

Why: predictions are a matrix of scores; accuracy, f1 and the like compare class numbers and raise or give nonsense.
Refuted by: argmax, a threshold, preprocess_logits_for_metrics, a metric of scores such as roc_auc.
Holds for: transformers with evaluate, datasets.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.makers import maker
from firstcause.check.rule import Example
from firstcause.check.trainers import trainer_runs
from firstcause.schema.finding import Category, Finding

SLUG = "metric-of-logits"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

OF_CLASSES = ("accuracy", "f1", "precision", "recall", "matthews_correlation")
LOADERS = ("evaluate.load", "datasets.load_metric", "evaluate.loading.load")


def find(code: Code) -> Iterator[Finding]:
    for run in trainer_runs(code):
        given = run.call.argument("compute_metrics", 7)
        if given is None or run.call.may_have("preprocess_logits_for_metrics"):
            continue
        for origin in code.origins(given.module, given.node):
            if isinstance(origin.node, ast.FunctionDef):
                for node in _computes(origin.node):
                    metric = (
                        maker(code, origin.module, node.func.value)
                        if isinstance(node.func, ast.Attribute)
                        else None
                    )
                    name = (
                        metric.constant("path", 0) if metric is not None and metric.name in LOADERS else None
                    )
                    if name is not None and name.value in OF_CLASSES:
                        text = (
                            f"{name.value} compares class numbers and gets the logits: argmax(-1) is missing"
                        )
                        yield finding(SLUG, CATEGORY, origin.module, node, text, related=(run.call.site,))


def _computes(function: ast.FunctionDef) -> Iterator[ast.Call]:
    """The calls ``x.compute(predictions=logits)`` with what was unpacked from the argument as it came."""
    raw = _unpacked(function)
    for node in ast.walk(function):
        if (
            not isinstance(node, ast.Call)
            or not isinstance(node.func, ast.Attribute)
            or node.func.attr != "compute"
        ):
            continue
        given = next((k.value for k in node.keywords if k.arg == "predictions"), None)
        if isinstance(given, ast.Name) and given.id in raw:
            yield node


def _unpacked(function: ast.FunctionDef) -> set[str]:
    """The names bound once, by ``logits, labels = argument`` or ``logits = argument.predictions``."""
    if not function.args.args:
        return set()
    argument = function.args.args[-1].arg
    stores: dict[str, list[bool]] = {}
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign):
            continue
        target = node.targets[0]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Name) and target.elts:
            raw = node.value.id == argument
            for place, element in enumerate(target.elts):
                stores.setdefault(ast.unparse(element), []).append(raw and place == 0)
        elif isinstance(target, ast.Name):
            stores.setdefault(target.id, []).append(ast.unparse(node.value) == f"{argument}.predictions")
    return {name for name, kinds in stores.items() if kinds == [True]}


_BODY = """
import evaluate
from transformers import Trainer

metric = evaluate.load("{metric}")

def scores(pred):
    logits, labels = pred
    {more}
    return metric.compute(predictions=logits, references=labels){mark}

def main(model, args, data):
    Trainer(model=model, args=args, eval_dataset=data, compute_metrics=scores).evaluate()
"""
BAD = (
    Example(_BODY.format(metric="accuracy", more="pass", mark="  # found")),
    Example(_BODY.format(metric="f1", more="labels = labels.reshape(-1)", mark="  # found")),
)
GOOD = (
    Example(_BODY.format(metric="accuracy", more="logits = logits.argmax(-1)", mark="")),
    Example(_BODY.format(metric="roc_auc", more="pass", mark="")),
    Example(_BODY.format(metric="mse", more="pass", mark="")),
)
