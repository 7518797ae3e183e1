"""GRPO draws a number of answers a prompt that the batch cannot be divided by.

Why: a batch has to hold all answers of a prompt to compare them; GRPOTrainer raises ValueError otherwise.
Refuted by: a batch (cards times samples times accumulation) that num_generations divides, settings of unknown value.
Holds for: trl since 0.14.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "generation-batch-not-divisible"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# The defaults of GRPOConfig and TrainingArguments.
DEFAULTS = {"per_device_train_batch_size": 8, "gradient_accumulation_steps": 1, "num_generations": 8}


def find(code: Code) -> Iterator[Finding]:
    cards = {i.value for i in code.asked("num_gpus") if isinstance(i.value, int)}
    for call in code.calls("trl.GRPOConfig"):
        if call.may_have("generation_batch_size") or call.may_have("steps_per_generation") or len(cards) > 1:
            continue
        values = [_value(call, name, default) for name, default in DEFAULTS.items()]
        if None in values:
            continue
        samples, steps, drawn = (v for v in values if v is not None)
        # Several cards multiply the batch; without a word about them one card is the least that it can be.
        whole = samples * steps * (next(iter(cards)) if cards else 1)
        if drawn < 2 or whole % drawn == 0 or (not cards and drawn % whole == 0):
            continue
        text = (
            f"num_generations={drawn} does not divide the batch of {whole} ({samples} a card x {steps} steps)"
        )
        yield finding(SLUG, CATEGORY, call.module, call.node, text, argument="num_generations")


def _value(call: Call, name: str, default: int) -> int | None:
    if not call.may_have(name):
        return default
    known = call.constant(name)
    return known.value if known is not None and type(known.value) is int and known.value > 0 else None


_CONFIG = """
from trl import GRPOConfig

config = GRPOConfig(output_dir="out", {given}){mark}
"""
BAD = (
    Example(_CONFIG.format(given="per_device_train_batch_size=4, num_generations=6", mark="  # found")),
    Example(
        _CONFIG.format(
            given="per_device_train_batch_size=2, gradient_accumulation_steps=4, num_generations=5",
            mark="  # found",
        )
    ),
)
GOOD = (
    Example(_CONFIG.format(given="per_device_train_batch_size=4, num_generations=4", mark="")),
    Example(_CONFIG.format(given="per_device_train_batch_size=1, num_generations=8", mark="")),
    Example(
        _CONFIG.format(
            given="per_device_train_batch_size=4, num_generations=8, gradient_accumulation_steps=2", mark=""
        )
    ),
    Example(
        _CONFIG.format(
            given="per_device_train_batch_size=4, num_generations=6, generation_batch_size=12", mark=""
        )
    ),
)
