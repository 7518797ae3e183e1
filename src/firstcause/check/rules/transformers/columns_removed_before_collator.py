"""A collator of one's own reads columns that the trainer has removed by then.

Why: Trainer drops every column that the model's forward does not take, unless remove_unused_columns=False: KeyError.
Refuted by: remove_unused_columns=False, a dataset of one's own (only those of datasets are pruned), columns that forward takes.
Holds for: transformers, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.check.trainers import TRAINERS, trainer_runs
from firstcause.schema.finding import Category, Finding

SLUG = "columns-removed-before-collator"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# Raw columns, which no forward of transformers takes.
RAW = frozenset(
    {
        "text",
        "image",
        "audio",
        "sentence",
        "prompt",
        "question",
        "answer",
        "caption",
        "messages",
        "instruction",
    }
)


def find(code: Code) -> Iterator[Finding]:
    for run in trainer_runs(code):
        if run.call.name not in TRAINERS or run.settings is None or run.sets("remove_unused_columns"):
            continue
        given = run.given("data_collator", 2)
        if given is None or not _of_datasets(code):
            continue
        for origin in code.origins(run.call.module, given):
            raw = sorted(_read(origin.node)) if isinstance(origin.node, ast.FunctionDef) else []
            if raw:
                text = f"the collator reads {', '.join(raw)}, which Trainer removes; remove_unused_columns=False keeps them"
                yield finding(
                    SLUG,
                    CATEGORY,
                    run.settings.module,
                    run.settings.node,
                    text,
                    argument="remove_unused_columns",
                    related=(origin.site,),
                )


def _of_datasets(code: Code) -> bool:
    """Whether the training set is one of the library datasets, as far as the code says."""
    return code.imports("datasets") and not code.subclasses_of("torch.utils.data.Dataset")


def _read(function: ast.FunctionDef) -> set[str]:
    """The raw columns that a function reads from each example by ``[name]``."""
    found = set()
    for node in ast.walk(function):
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Constant)
            and isinstance(node.ctx, ast.Load)
        ) and node.slice.value in RAW:
            found.add(str(node.slice.value))
    return found


_BODY = """
from datasets import load_dataset
from transformers import Trainer, TrainingArguments

data = load_dataset("food101", split="train")

def collate(rows):
    return {{"pixel_values": [r["{column}"] for r in rows], "labels": [r["label"] for r in rows]}}

def main(model):
    args = TrainingArguments(output_dir="out"{given}){mark}
    Trainer(model=model, args=args, train_dataset=data, data_collator=collate).train()
"""
BAD = (
    Example(_BODY.format(column="image", given="", mark="  # found")),
    Example(_BODY.format(column="text", given=", learning_rate=1e-4", mark="  # found")),
)
GOOD = (
    Example(_BODY.format(column="image", given=", remove_unused_columns=False", mark="")),
    Example(_BODY.format(column="pixel_values", given="", mark="")),
    Example("""
from transformers import DataCollatorWithPadding, Trainer, TrainingArguments

def main(model, tok, data):
    args = TrainingArguments(output_dir="out")
    Trainer(model=model, args=args, train_dataset=data, data_collator=DataCollatorWithPadding(tok)).train()
"""),
)
