"""All weights are loaded in float16 and trained in it.

Why: steps below 1/2048 of a weight are rounded away and small gradients become 0; with fp16=True the scaler refuses them
("Attempting to unscale FP16 gradients").
Refuted by: an adapter (its weights stay float32), bfloat16 weights, no training.
Holds for: transformers, torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.constants import Named
from firstcause.check.makers import makers_on_the_way
from firstcause.check.rule import Example
from firstcause.check.trainers import trainer_runs
from firstcause.schema.finding import Category, Finding

SLUG = "half-precision-weights-trained"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

HALF = ("float16", "torch.float16", "torch.half")


def find(code: Code) -> Iterator[Finding]:
    if code.called_names() & {"float", "upcast_layernorm"} and code.methods("float"):
        return
    for run in trainer_runs(code):
        if run.adapted or run.model is None or run.model.may_have("quantization_config"):
            continue
        value = run.call.argument("model", 0)
        if value is None:
            continue
        for call in makers_on_the_way(code, value.module, value.node):
            if not _halves(call):
                continue
            text = "all weights are in float16 and are trained in it: small updates are rounded away"
            if run.is_on("fp16"):
                text = "the weights are float16 and fp16=True scales gradients: the scaler refuses float16 gradients"
            text += "; load them in float32 (or bfloat16) and let autocast halve the activations"
            yield finding(SLUG, CATEGORY, call.module, call.node, text, related=(run.call.site,))
            break


def _halves(call: Call) -> bool:
    if call.name == ".half":
        return True
    for name in ("dtype", "torch_dtype"):
        given = call.constant(name, 0 if call.name == ".to" else None)
        value = given.value if given is not None else None
        if (value.name if isinstance(value, Named) else value) in HALF:
            return True
    return False


_BODY = """
import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

def main(data):
    model = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.{dtype}){mark}
    {more}
    args = TrainingArguments("out", {precision}=True)
    Trainer(model=model, args=args, train_dataset=data).train()
"""
BAD = (
    Example(_BODY.format(dtype="float16", mark="  # found", more="", precision="fp16")),
    Example("""
import torch
from transformers import AutoModelForSequenceClassification, Trainer

model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", torch_dtype="float16")  # found
model.to("cuda")
Trainer(model, train_dataset=[]).train()
"""),
)
GOOD = (
    Example(_BODY.format(dtype="float32", mark="", more="", precision="fp16")),
    Example(_BODY.format(dtype="bfloat16", mark="", more="", precision="bf16")),
    Example(
        _BODY.format(
            dtype="float16",
            mark="",
            precision="fp16",
            more="from peft import LoraConfig, get_peft_model; model = get_peft_model(model, LoraConfig(r=8))",
        )
    ),
    Example("""
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float16)
print(model.generate(torch.zeros(1, 4).long(), max_new_tokens=8))
"""),
)
