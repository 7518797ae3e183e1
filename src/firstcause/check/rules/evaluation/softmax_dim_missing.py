"""Softmax is taken without saying along which dimension.

Why: torch then guesses by the number of dimensions (0 for 3 of them: across the batch) and warns; the guess is deprecated.
Refuted by: dim given, here or by its place.
Holds for: torch, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "softmax-dim-missing"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

# The place of dim in each.
CALLS = {
    "torch.nn.functional.softmax": 1,
    "torch.nn.functional.log_softmax": 1,
    "torch.nn.functional.softmin": 1,
    "torch.nn.Softmax": 0,
    "torch.nn.LogSoftmax": 0,
    "torch.nn.Softmin": 0,
}


def find(code: Code) -> Iterator[Finding]:
    for name, place in CALLS.items():
        for call in code.calls(name):
            if not call.may_have("dim") and len(call.node.args) <= place:
                text = f"{name.removeprefix('torch.')} without dim: torch guesses the dimension, 0 or 1 by the number of them"
                yield finding(SLUG, CATEGORY, call.module, call.node, text, argument="dim")


_BODY = """
import torch.nn.functional as F
from torch import nn

head = nn.Sequential(nn.Linear(4, 2), nn.Softmax({layer})){mark}

def scores(x):
    return F.softmax(x{given}){other}
"""
BAD = (
    Example(_BODY.format(layer="dim=1", given="", mark="", other="  # found")),
    Example(_BODY.format(layer="", given=", dim=-1", mark="  # found", other="")),
)
GOOD = (
    Example(_BODY.format(layer="dim=1", given=", dim=-1", mark="", other="")),
    Example(_BODY.format(layer="1", given=", -1", mark="", other="")),
    Example("def softmax(x):\n    return x\n\n\nprint(softmax(3))\n"),
)
