"""fp16 and bf16 are both switched on.

Why: TrainingArguments raises ValueError: at most one of them can be in use.
Refuted by: one of them decided at run time, one of them off.
Holds for: transformers, trl.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.makers import is_true
from firstcause.check.rule import Example
from firstcause.check.trainers import ARGUMENTS, CONFIGS
from firstcause.schema.finding import Category, Finding

SLUG = "both-half-precisions"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for call in code.calls(*ARGUMENTS, *CONFIGS):
        for one, other in (("fp16", "bf16"), ("fp16_full_eval", "bf16_full_eval")):
            if is_true(call, one) and is_true(call, other):
                value = call.argument(other)
                node = value.node if value is not None and value.module is call.module else call.node
                text = f"{one} and {other} are both on; the arguments take one of them and raise for two"
                yield finding(SLUG, CATEGORY, call.module, node, text, argument=other, key="precision")


_ARGS = """
from transformers import TrainingArguments
import torch

args = TrainingArguments(output_dir="out", {given}){mark}
"""
BAD = (
    Example(_ARGS.format(given="fp16=True, bf16=True", mark="  # found")),
    Example("""
from trl import SFTConfig

HALF = True
config = SFTConfig(
    fp16=HALF,
    bf16=HALF,  # found
)
"""),
)
GOOD = (
    Example(_ARGS.format(given="fp16=False, bf16=True", mark="")),
    Example(
        _ARGS.format(
            given="bf16=torch.cuda.is_bf16_supported(), fp16=not torch.cuda.is_bf16_supported()", mark=""
        )
    ),
    Example(_ARGS.format(given="fp16=True", mark="")),
)
