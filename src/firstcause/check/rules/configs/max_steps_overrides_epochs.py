"""A number of steps beside a number of epochs: the steps win.

Why: where max_steps is positive, num_train_epochs has no effect; who set both meant one of them.
Refuted by: max_steps of 0 or less, epochs that are left at their default, values that a command line may change.
Holds for: transformers and trl, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.facts.engines import TRAINER
from firstcause.check.facts.table import families
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "max-steps-overrides-epochs"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for family in families():
        for call in code.calls(*family.calls) if family.name in TRAINER else ():
            steps, epochs = call.constant("max_steps"), call.constant("num_train_epochs")
            if steps is None or epochs is None or steps.overridable or epochs.overridable:
                continue
            value = call.argument("max_steps")
            if value is not None and isinstance(steps.value, int) and steps.value > 0:
                text = f"max_steps={steps.value} beats num_train_epochs={epochs.value}, which then does nothing; keep one of them"
                yield finding(
                    SLUG, CATEGORY, call.module, value.node, text, got=str(steps.value), key="max_steps",
                    argument="max_steps", related=(epochs.site,),
                )  # fmt: skip


_CODE = """
from transformers import TrainingArguments
args = TrainingArguments(
    output_dir="out",
    num_train_epochs=3,
    {more}
)
"""
BAD = (
    Example(_CODE.format(more="max_steps=1000,  # found")),
    Example(
        "from trl import SFTConfig\nSTEPS = 50\nSFTConfig(num_train_epochs=1, max_steps=STEPS)  # found\n"
    ),
)
GOOD = (
    Example(_CODE.format(more="max_steps=-1,")),
    Example(_CODE.format(more="save_steps=1000,")),
    Example(_CODE.format(more="max_steps=args.max_steps,")),
)
