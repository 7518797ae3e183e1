"""Evaluation is switched on and the trainer gets nothing to evaluate on.

Why: Trainer raises ValueError when it is built (before 4.46: at the first evaluation, after hours).
Refuted by: eval_dataset given, strategies that the code does not say, a subclass with its own loader.
Holds for: transformers, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.check.trainers import OF_TRL, TRAINERS, trainer_runs
from firstcause.schema.finding import Category, Finding

SLUG = "evaluation-without-dataset"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for run in trainer_runs(code):
        if (
            run.call.name not in (*TRAINERS, *OF_TRL)
            or run.call.may_have("eval_dataset")
            or run.settings is None
        ):
            continue
        if len(run.call.node.args) > 4 or any(k.arg is None for k in run.settings.node.keywords):
            continue
        strategy = run.setting("eval_strategy") or run.setting("evaluation_strategy")
        if strategy is None or strategy.value not in ("epoch", "steps"):
            continue
        text = f"eval_strategy is {strategy.value!r} and the trainer gets no eval_dataset"
        yield finding(
            SLUG,
            CATEGORY,
            run.call.module,
            run.call.node,
            text,
            argument="eval_dataset",
            related=(strategy.site,),
        )


_BODY = """
from transformers import Trainer, TrainingArguments

def main(model, data):
    args = TrainingArguments(output_dir="out", eval_strategy="{strategy}")
    trainer = Trainer(model=model, args=args, train_dataset=data{more}){mark}
    trainer.train()
"""
BAD = (
    Example(_BODY.format(strategy="epoch", more="", mark="  # found")),
    Example("""
from trl import SFTConfig, SFTTrainer

config = SFTConfig(output_dir="out", eval_strategy="steps", eval_steps=50)

def main(model, data):
    SFTTrainer(model=model, args=config, train_dataset=data).train()  # found
"""),
)
GOOD = (
    Example(_BODY.format(strategy="epoch", more=", eval_dataset=data", mark="")),
    Example(_BODY.format(strategy="no", more="", mark="")),
    Example("""
from transformers import Trainer, TrainingArguments

def main(model, data, strategy):
    args = TrainingArguments(output_dir="out", eval_strategy=strategy)
    Trainer(model=model, args=args, train_dataset=data).train()
"""),
)
