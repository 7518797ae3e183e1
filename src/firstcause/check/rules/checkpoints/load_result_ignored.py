"""Weights are loaded with strict=False and nobody looks at what did not fit.

Why: with a prefix too many, every name misses: nothing is loaded, nothing is said, and the model stays random.
Refuted by: the result kept or printed, strict loading, names chosen by the code before.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.makers import is_true
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "load-result-ignored"
CATEGORY: Category = "suggestion"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for call in code.methods("load_state_dict"):
        strict = call.constant("strict", 1)
        if strict is None or strict.value is not False or is_true(call, "strict", 1):
            continue
        if isinstance(call.module.parents.get(call.node), ast.Expr):
            text = "strict=False loads what fits and says nothing; look at missing_keys and unexpected_keys of the result"
            yield finding(SLUG, CATEGORY, call.module, call.node, text, argument="strict")


_BODY = """
import torch

def restore(net, path):
    {load}{mark}
"""
BAD = (
    Example(_BODY.format(load="net.load_state_dict(torch.load(path), strict=False)", mark="  # found")),
    Example(_BODY.format(load="net.load_state_dict(torch.load(path), False)", mark="  # found")),
)
GOOD = (
    Example(_BODY.format(load="print(net.load_state_dict(torch.load(path), strict=False))", mark="")),
    Example(_BODY.format(load="net.load_state_dict(torch.load(path))", mark="")),
    Example(
        _BODY.format(load="missing, more = net.load_state_dict(torch.load(path), strict=False)", mark="")
    ),
)
