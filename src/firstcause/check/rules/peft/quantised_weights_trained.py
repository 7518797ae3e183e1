"""A model in 4 or 8 bits is given to a trainer without an adapter.

Why: quantised weights take no gradient; Trainer raises ValueError ("You cannot perform fine-tuning on purely quantized models").
Refuted by: get_peft_model, peft_config, add_adapter.
Holds for: transformers with bitsandbytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.makers import given_maker, is_true
from firstcause.check.rule import Example
from firstcause.check.trainers import trainer_runs
from firstcause.schema.finding import Category, Finding

SLUG = "quantised-weights-trained"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for run in trainer_runs(code):
        if run.model is not None and not run.adapted and quantised(run.model):
            text = "the model's weights are quantised and no adapter is trained on top of them: Trainer refuses that"
            yield finding(
                SLUG, CATEGORY, run.call.module, run.call.node, text, key="method", related=(run.model.site,)
            )


def quantised(model: Call) -> bool:
    """Whether a model is loaded in 4 or 8 bits by bitsandbytes."""
    if is_true(model, "load_in_4bit") or is_true(model, "load_in_8bit"):
        return True
    config = given_maker(model, "quantization_config")
    if config is None or config.name.rpartition(".")[2] != "BitsAndBytesConfig":
        return False
    return is_true(config, "load_in_4bit") or is_true(config, "load_in_8bit", 0)


_BODY = """
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, Trainer

def main(args, data):
    bits = BitsAndBytesConfig({bits})
    model = AutoModelForCausalLM.from_pretrained("org/model", quantization_config=bits)
    {more}
    Trainer(model=model, args=args, train_dataset=data).train(){mark}
"""
BAD = (
    Example(
        _BODY.format(bits="load_in_4bit=True", more="pass", mark="  # found").replace(", get_peft_model", "")
    ),
    Example(
        _BODY.format(bits="load_in_8bit=True", more="model.train()", mark="  # found").replace(
            ", get_peft_model", ""
        )
    ),
)
GOOD = (
    Example(
        _BODY.format(bits="load_in_4bit=True", more="model = get_peft_model(model, LoraConfig())", mark="")
    ),
    Example(_BODY.format(bits="load_in_4bit=False", more="pass", mark="")),
    Example("""
from transformers import AutoModelForCausalLM, Trainer

def main(args, data, config):
    model = AutoModelForCausalLM.from_pretrained("org/model", quantization_config=config)
    Trainer(model=model, args=args, train_dataset=data).train()
"""),
)
