"""Sequences are packed and the loss is to count completions alone by a collator that looks for markers.

Why: the collator masks one answer a sample; in packed samples it misses the others, and SFTTrainer refuses the pair.
Refuted by: packing off, completion_only_loss of the configuration instead of the collator.
Holds for: trl before 0.20.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.makers import given_maker, is_true
from firstcause.check.rule import Example
from firstcause.check.trainers import trainer_runs
from firstcause.schema.finding import Category, Finding

SLUG = "packing-with-completion-only"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for run in trainer_runs(code):
        collator = given_maker(run.call, "data_collator")
        if collator is None or collator.name.rpartition(".")[2] != "DataCollatorForCompletionOnlyLM":
            continue
        if run.is_on("packing") or is_true(run.call, "packing"):
            text = "packing=True and a completion-only collator exclude each other; completion_only_loss=True does both"
            yield finding(
                SLUG, CATEGORY, run.call.module, run.call.node, text, key="packing", argument="packing"
            )


_BODY = """
from trl import DataCollatorForCompletionOnlyLM, SFTConfig, SFTTrainer

def main(model, tok, data):
    config = SFTConfig(output_dir="out", packing={packing})
    SFTTrainer(model=model, args=config, train_dataset=data{collator}).train(){mark}
"""
_GIVEN = ', data_collator=DataCollatorForCompletionOnlyLM("Answer:", tokenizer=tok)'
BAD = (
    Example(_BODY.format(packing="True", collator=_GIVEN, mark="  # found")),
    Example("""
from trl import DataCollatorForCompletionOnlyLM, SFTTrainer

def main(model, tok, data):
    collate = DataCollatorForCompletionOnlyLM("### A", tokenizer=tok)
    trainer = SFTTrainer(model, train_dataset=data, packing=True, data_collator=collate)  # found
    trainer.train()
"""),
)
GOOD = (
    Example(_BODY.format(packing="False", collator=_GIVEN, mark="")),
    Example(_BODY.format(packing="True", collator="", mark="")),
    Example("""
from trl import SFTConfig, SFTTrainer

def main(model, data):
    SFTTrainer(model=model, args=SFTConfig("out", packing=True, completion_only_loss=True), train_dataset=data).train()
"""),
)
