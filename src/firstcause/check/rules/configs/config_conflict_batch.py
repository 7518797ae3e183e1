"""The batch of a DeepSpeed configuration against its own arithmetic, and against the training arguments.

Why: train_batch_size has to be micro batch x accumulation x devices; DeepSpeed and the Trainer stop at a mismatch.
Refuted by: "auto" values, an unknown number of devices for which the numbers can fit, values that agree.
Holds for: deepspeed, all versions, and the integration of transformers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code
from firstcause.check.constants import Constant
from firstcause.check.facts.engines import TRAINER, Configuration, deepspeed_configurations, world
from firstcause.check.facts.table import families
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.schema.site import Site

SLUG = "config-conflict-batch"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

SAME = {
    "train_micro_batch_size_per_gpu": "per_device_train_batch_size",
    "gradient_accumulation_steps": "gradient_accumulation_steps",
}


def find(code: Code) -> Iterator[Finding]:
    trainers = [c for f in families() if f.name in TRAINER for c in code.calls(*f.calls)]
    for one in deepspeed_configurations(code):
        callers = [c for c in trainers if c.may_have("deepspeed")] or trainers
        yield from _against(one, callers[0] if len(callers) == 1 else None)
        yield from _arithmetic(code, one, callers[0] if len(callers) == 1 else None)


def _against(one: Configuration, call: Call | None) -> Iterator[Finding]:
    """An entry and the argument of the training arguments that means the same."""
    for entry, argument in SAME.items() if call is not None else ():
        said = one.number(entry)
        given = call.constant(argument) if call is not None else None
        if said is not None and given is not None and given.value != said.value:
            text = f'{entry} is {said.value} here and {argument} is {given.value}: the Trainer stops there; write "auto"'
            yield _found(said, text, (given.site,), given.value, entry)


def _arithmetic(code: Code, one: Configuration, call: Call | None) -> Iterator[Finding]:
    total = one.number("train_batch_size")
    parts = [p for e, a in SAME.items() if (p := _part(one, call, e, a)) is not None]
    if total is None or not parts or any(not isinstance(p.value, int) or p.value < 1 for p in parts):
        return
    devices = world(code)
    wanted = math.prod(p.value for p in parts) * (devices or 1)
    # With a number missing, or without the number of devices, only a remainder is a contradiction.
    if total.value % wanted or (total.value != wanted and devices is not None and len(parts) == len(SAME)):
        text = f"train_batch_size is {total.value}, but {_said(one, call)}"
        text += (
            f" x {devices} devices are {wanted}" if devices is not None else f" make {wanted} on each device"
        )
        yield _found(total, text, tuple(p.site for p in parts), wanted, "train_batch_size")


def _part(one: Configuration, call: Call | None, entry: str, argument: str) -> Constant | None:
    return one.number(entry) or (call.constant(argument) if call is not None else None)


def _said(one: Configuration, call: Call | None) -> str:
    each, times = (_part(one, call, e, a) for e, a in SAME.items())
    words = [f"{each.value} per device"] if each is not None else []
    words += [f"{times.value} accumulated"] if times is not None else []
    return " x ".join(words)


def _found(said: Constant, text: str, related: tuple[Site, ...], wanted: int, argument: str) -> Finding:
    key = {"train_batch_size": "effective_batch_size", "gradient_accumulation_steps": "gradient_accumulation"}
    return Finding(
        SLUG,
        CATEGORY,
        said.site,
        text,
        str(wanted),
        str(said.value),
        key.get(argument, "batch_size"),
        argument,
        related=related,
    )


_TRAIN = """
from transformers import TrainingArguments
args = TrainingArguments(
    output_dir="out", deepspeed="ds.json", per_device_train_batch_size=4, gradient_accumulation_steps=8,
)
"""
_ENGINE = """
import deepspeed

def main(model):
    return deepspeed.initialize(model=model, config={
        "train_batch_size": 48,  # found
        "train_micro_batch_size_per_gpu": 8,
        "gradient_accumulation_steps": 4,
    })
"""
BAD = (
    Example(_ENGINE),
    Example(_ENGINE.replace("48", "64"), {"run.sh": "deepspeed --num_gpus 4 train.py\n"}),
    Example(_ENGINE.replace("48", "64"), asked={"num_gpus": 4}),
    Example(
        _ENGINE.replace("48", "60").replace('        "gradient_accumulation_steps": 4,\n', ""),
        {"run.sh": "deepspeed --num_gpus 4 train.py\n"},
    ),
)
GOOD = (
    Example(
        _ENGINE.replace("48", "64")
        .replace("  # found", "")
        .replace('        "gradient_accumulation_steps": 4,\n', ""),
        {"run.sh": "deepspeed --num_gpus 4 train.py\n"},
    ),
    Example(
        _TRAIN,
        {"ds.json": '{"train_batch_size": 128, "gradient_accumulation_steps": 8}'},
        asked={"num_gpus": 4},
    ),
    Example(_TRAIN, {"ds.json": '{"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto"}'}),
    # Two devices would make it right.
    Example(_ENGINE.replace("48", "64").replace("  # found", "")),
    Example(_TRAIN, {"other.json": '{"train_batch_size": 64}'}, asked={"num_gpus": 4}),
)
