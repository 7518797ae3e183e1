"""The best model is chosen by a figure that nothing computes.

Why: at the first save the trainer looks the figure up and raises KeyError, after a whole epoch of training.
Refuted by: compute_metrics that gives it, eval_loss, a figure of a part of several evaluation sets.
Holds for: transformers, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.check.trainers import TRAINERS, TrainerRun, trainer_runs
from firstcause.schema.finding import Category, Finding
from firstcause.source.functions import body_nodes

SLUG = "best-metric-not-computed"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# What Trainer reports of itself.
BUILT_IN = frozenset({"loss", "runtime", "samples_per_second", "steps_per_second", "model_preparation_time"})


def find(code: Code) -> Iterator[Finding]:
    for run in trainer_runs(code):
        metric = run.setting("metric_for_best_model")
        if metric is None or not isinstance(metric.value, str) or run.call.name not in TRAINERS:
            continue
        wanted = metric.value.removeprefix("eval_")
        if wanted in BUILT_IN or any(k.arg is None for k in run.call.node.keywords):
            continue
        known = _computed(code, run)
        if known is None or wanted in known:
            continue
        text = f"metric_for_best_model is {metric.value!r}, "
        text += (
            f"and compute_metrics gives {', '.join(sorted(known))}"
            if known
            else "and no compute_metrics gives it"
        )
        yield finding(
            SLUG,
            CATEGORY,
            run.call.module,
            run.call.node,
            text,
            argument="compute_metrics",
            related=(metric.site,),
        )


def _computed(code: Code, run: TrainerRun) -> set[str] | None:
    """The names that compute_metrics gives; None where the code does not say them all."""
    given = run.call.argument("compute_metrics", 7)
    if given is None:
        return set() if not run.call.may_have("compute_metrics") and len(run.call.node.args) <= 7 else None
    functions = [o.node for o in code.origins(given.module, given.node)]
    if len(functions) != 1 or not isinstance(functions[0], ast.FunctionDef):
        return None
    found: set[str] = set()
    for node in body_nodes(functions[0]):
        if not isinstance(node, ast.Return):
            continue
        if not isinstance(node.value, ast.Dict):
            return None
        for key in node.value.keys:
            if not isinstance(key, ast.Constant):
                return None
            found.add(str(key.value).removeprefix("eval_"))
    return found or None


_BODY = """
from transformers import Trainer, TrainingArguments

def scores(prediction):
    return {{"accuracy": float((prediction.predictions.argmax(-1) == prediction.label_ids).mean())}}

def main(model, data):
    args = TrainingArguments("out", eval_strategy="epoch", metric_for_best_model="{metric}")
    Trainer(model=model, args=args, train_dataset=data, eval_dataset=data{more}).train(){mark}
"""
BAD = (
    Example(_BODY.format(metric="f1", more=", compute_metrics=scores", mark="  # found")),
    Example(_BODY.format(metric="accuracy", more="", mark="  # found")),
)
GOOD = (
    Example(_BODY.format(metric="accuracy", more=", compute_metrics=scores", mark="")),
    Example(_BODY.format(metric="eval_loss", more="", mark="")),
    Example("""
from transformers import Trainer, TrainingArguments

def main(model, data, metric):
    args = TrainingArguments("out", metric_for_best_model="eval_f1")
    Trainer(model=model, args=args, eval_dataset=data, compute_metrics=lambda p: metric.compute(p)).train()
"""),
)
