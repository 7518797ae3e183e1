"""A saved adapter is loaded to be trained on, and loaded frozen.

Why: PeftModel.from_pretrained loads for inference: no weight takes a gradient, and backward raises or trains nothing.
Refuted by: is_trainable=True, requires_grad set afterwards, a program that does not train it.
Holds for: peft, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.makers import makers_on_the_way
from firstcause.check.rule import Example
from firstcause.check.trainers import trainer_runs
from firstcause.schema.finding import Category, Finding

SLUG = "adapter-frozen-at-load"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    if code.called_names() & {
        "requires_grad_",
        "merge_and_unload",
        "mark_only_lora_as_trainable",
        "set_adapter",
    }:
        return
    for run in trainer_runs(code):
        value = run.call.argument("model", 0)
        if value is None or run.call.may_have("peft_config"):
            continue
        for made in makers_on_the_way(code, value.module, value.node):
            if made.name == "peft.PeftModel.from_pretrained" and not made.may_have("is_trainable"):
                text = "the adapter is loaded frozen and given to a trainer; is_trainable=True lets it learn"
                yield finding(
                    SLUG,
                    CATEGORY,
                    made.module,
                    made.node,
                    text,
                    argument="is_trainable",
                    related=(run.call.site,),
                )


_BODY = """
from peft import PeftModel
from transformers import AutoModelForCausalLM, Trainer

base = AutoModelForCausalLM.from_pretrained("org/model")
model = PeftModel.from_pretrained(base, "out/adapter"{more}){mark}
{use}
"""
BAD = (
    Example(_BODY.format(more="", mark="  # found", use="Trainer(model=model, train_dataset=[]).train()")),
    Example(
        _BODY.format(more="", mark="  # found", use="model.train()\nTrainer(model, train_dataset=[]).train()")
    ),
)
GOOD = (
    Example(
        _BODY.format(
            more=", is_trainable=True", mark="", use="Trainer(model=model, train_dataset=[]).train()"
        )
    ),
    Example(_BODY.format(more="", mark="", use="print(model.generate(max_new_tokens=4))")),
    Example(
        _BODY.format(
            more="", mark="", use="model = model.merge_and_unload()\nTrainer(model, train_dataset=[]).train()"
        )
    ),
)
