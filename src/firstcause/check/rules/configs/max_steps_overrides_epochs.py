"""A number of steps beside a number of epochs: the steps win.

Why: where max_steps is positive, num_train_epochs has no effect; who set both meant one of them.
Refuted by: max_steps of 0 or less, steps that are computed from the epochs, epochs that are left at their default, values
that a command line may change.
Holds for: transformers and trl, all versions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.constants import Constant
from firstcause.check.facts.engines import TRAINER
from firstcause.check.facts.table import families
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.callsites import last_name
from firstcause.source.frames import Value

SLUG = "max-steps-overrides-epochs"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for family in families():
        for call in code.calls(*family.calls) if family.name in TRAINER else ():
            steps, epochs = call.constant("max_steps"), call.constant("num_train_epochs")
            if steps is None or epochs is None or steps.overridable or epochs.overridable:
                continue
            value, given = call.argument("max_steps"), call.argument("num_train_epochs")
            if value is None or given is None or not isinstance(epochs.value, (int, float)):
                continue
            if isinstance(steps.value, int) and steps.value > 0 and not _computed(value, steps, given):
                text = f"max_steps={steps.value} beats num_train_epochs={epochs.value}, which then does nothing; keep one of them"
                yield finding(
                    SLUG, CATEGORY, call.module, value.node, text, got=str(steps.value), key="max_steps",
                    argument="max_steps", related=(epochs.site,),
                )  # fmt: skip


def _computed(value: Value, steps: Constant, epochs: Value) -> bool:
    """Whether the steps are so many for each of the epochs, where they are given or where they are made."""
    name = re.escape(last_name(epochs.node))
    texts = (ast.unparse(value.node), steps.site.text)
    return bool(name) and any("*" in t and re.search(rf"\b{name}\b", t) for t in texts)


_CODE = """
from transformers import TrainingArguments
args = TrainingArguments(
    output_dir="out",
    num_train_epochs=3,
    {more}
)
"""
_PLAN = """
from dataclasses import dataclass, field
from transformers import TrainingArguments

@dataclass(frozen=True)
class Plan:
    epochs: int | None = {epochs}
    updates: int = {updates}

    @property
    def total(self) -> int:
        return self.epochs * 100

@dataclass(frozen=True)
class Settings:
    plan: Plan = field(default_factory=Plan)

def arguments(settings: Settings) -> TrainingArguments:
    plan = settings.plan
    return TrainingArguments(
        output_dir="out",
        num_train_epochs=plan.epochs,
        max_steps={steps},{mark}
    )

def main():
    arguments(Settings({given}))
"""


def _plan(
    epochs: str = "3", updates: str = "900", steps: str = "plan.updates", given: str = "", mark: str = ""
) -> Example:
    return Example(_PLAN.format(epochs=epochs, updates=updates, steps=steps, given=given, mark=mark))


BAD = (
    Example(_CODE.format(more="max_steps=1000,  # found")),
    Example(
        "from trl import SFTConfig\nSTEPS = 50\nSFTConfig(num_train_epochs=1, max_steps=STEPS)  # found\n"
    ),
    _plan(mark="  # found"),
    _plan(updates="-1", given="Plan(updates=40)", mark="  # found"),
)
GOOD = (
    Example(_CODE.format(more="max_steps=-1,")),
    Example(_CODE.format(more="save_steps=1000,")),
    Example(_CODE.format(more="max_steps=args.max_steps,")),
    _plan(updates="-1"),
    _plan(given="Plan(updates=-1)"),
    _plan(epochs="None"),
    _plan(steps="plan.total"),
)
