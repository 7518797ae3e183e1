"""All weights are loaded in float16 and trained in it.

Why: steps below 1/2048 of a weight are rounded away and small gradients become 0; with fp16=True the scaler refuses them
("Attempting to unscale FP16 gradients").
Refuted by: an adapter (its weights stay float32), bfloat16 weights, no training, an optimizer of other weights.
Holds for: transformers, torch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.constants import Named
from firstcause.check.makers import makers_on_the_way
from firstcause.check.rule import Example
from firstcause.check.steps import OPTIMIZERS
from firstcause.check.trainers import trainer_runs
from firstcause.schema.finding import Category, Finding

SLUG = "half-precision-weights-trained"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

HALF = ("float16", "torch.float16", "torch.half")


def find(code: Code) -> Iterator[Finding]:
    if code.called_names() & {"float", "upcast_layernorm"} and code.methods("float"):
        return
    yield from _in_loops(code)
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


def _in_loops(code: Code) -> Iterator[Finding]:
    """``net.half()`` of a network whose parameters an optimizer of the same function takes."""
    if "backward" not in code.called_names():
        return
    optimized = {
        (c.module.path, id(c.module.function(c.node)), ast.unparse(p.func.value))
        for c in code.calls(*(f"torch.optim.{name}" for name in OPTIMIZERS))
        for p in ast.walk(c.node)
        if isinstance(p, ast.Call) and isinstance(p.func, ast.Attribute) and p.func.attr == "parameters"
    }
    for call in code.methods("half", "to"):
        if call.receiver is None or not _halves(call):
            continue
        module, statement = call.module, call.module.statement(call.node)
        names = {ast.unparse(call.receiver)}
        if isinstance(statement, ast.Assign):
            names |= {ast.unparse(t) for t in statement.targets}
        around = id(module.function(call.node))
        if any((module.path, around, name) in optimized for name in names):
            text = (
                "all weights are made float16 and are trained in it: small updates are rounded away, and a gradient scaler "
                "refuses float16 gradients; keep them in float32 and let autocast halve the activations"
            )
            yield finding(SLUG, CATEGORY, module, call.node, text)


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
_LOOP = """
import torch
from torch import nn

net, head = nn.Linear(8, 8), nn.Linear(8, 2)
net = net.half(){mark}
optimizer = torch.optim.Adam({trained}.parameters(), lr=1e-3)
for x, y in []:
    optimizer.zero_grad()
    nn.functional.cross_entropy(head(net(x)), y).backward()
    optimizer.step()
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
    Example(_LOOP.format(mark="  # found", trained="net")),
)
GOOD = (
    Example(_LOOP.format(mark="", trained="head")),
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
