"""Gradient checkpointing is on and the key-value cache is asked for, too.

Why: the two exclude each other: the library warns at each start and switches the cache off.
Refuted by: use_cache=False, a cache that is asked for only in generate().
Holds for: transformers, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.facts.models import model_calls
from firstcause.check.makers import is_true
from firstcause.check.rule import Example
from firstcause.check.trainers import ARGUMENTS, CONFIGS
from firstcause.schema.finding import Category, Finding

SLUG = "checkpointing-with-cache"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    on = [c for c in code.calls(*ARGUMENTS, *CONFIGS) if is_true(c, "gradient_checkpointing")]
    on += code.methods("gradient_checkpointing_enable")
    if not on:
        return
    for call in model_calls(code):
        if is_true(call, "use_cache"):
            text = "use_cache=True beside gradient checkpointing, which recomputes and keeps no cache: use_cache=False"
            yield finding(
                SLUG, CATEGORY, call.module, call.node, text, argument="use_cache", related=(on[0].site,)
            )


_BODY = """
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("gpt2"{cache}){mark}
args = TrainingArguments("out"{more})
Trainer(model, args, train_dataset=[]).train()
"""
BAD = (
    Example(_BODY.format(cache=", use_cache=True", more=", gradient_checkpointing=True", mark="  # found")),
    Example("""
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2", use_cache=True)  # found
model.gradient_checkpointing_enable()
"""),
)
GOOD = (
    Example(_BODY.format(cache=", use_cache=False", more=", gradient_checkpointing=True", mark="")),
    Example(_BODY.format(cache=", use_cache=True", more="", mark="")),
    Example(_BODY.format(cache="", more=", gradient_checkpointing=True", mark="")),
)
