"""A model that was spread over devices, or quantised, is moved as a whole.

Why: what device_map spread is put on one card again, offloaded parts raise, and 8-bit weights cannot be moved.
Refuted by: no device_map, a move of inputs only.
Holds for: transformers, accelerate.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.makers import first_maker
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "device-map-then-moved"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

SPREAD = ("auto", "balanced", "balanced_low_0", "sequential")


def find(code: Code) -> Iterator[Finding]:
    if not any(_spread(c) for c in code.methods_and_calls("from_pretrained")):
        return
    for call in code.methods("to", "cuda"):
        if call.receiver is None or not _to_device(call):
            continue
        made = first_maker(code, call.module, call.receiver)
        if made is None or not made.name.endswith("from_pretrained"):
            continue
        spread = _spread(made)
        if spread:
            text = f"device_map={spread!r} has placed the model; moving it as a whole undoes that or raises"
            yield finding(SLUG, CATEGORY, call.module, call.node, text, related=(made.site,))


def _spread(call: Call) -> str:
    """The way in which a call places a model over devices; empty where it does not."""
    known = call.constant("device_map") if call.may_have("device_map") else None
    return known.value if known is not None and known.value in SPREAD else ""


def _to_device(call: Call) -> bool:
    if call.name == ".cuda":
        return True
    first = call.node.args[0] if call.node.args else None
    known = call.constant("device", 0)
    if known is not None and isinstance(known.value, str):
        return True
    return isinstance(first, (ast.Name, ast.Attribute)) and "device" in ast.unparse(first).lower()


_BODY = """
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("org/model"{more})
{move}{mark}
"""
BAD = (
    Example(_BODY.format(more=', device_map="auto"', move='model.to("cuda")', mark="  # found")),
    Example(_BODY.format(more=', device_map="balanced"', move="model = model.cuda()", mark="  # found")),
)
GOOD = (
    Example(_BODY.format(more="", move='model.to("cuda")', mark="")),
    Example(_BODY.format(more=', device_map="auto"', move="model.to(torch.bfloat16)", mark="")),
    Example(_BODY.format(more=', device_map="cuda:0"', move='model.to("cuda")', mark="")),
)
