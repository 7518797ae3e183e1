"""A loader is given two ways to draw its samples.

Why: DataLoader raises ValueError: a sampler draws the order, and shuffle, batch_size or drop_last beside it mean two orders.
Refuted by: one of them off, values that the code decides by a test.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.makers import is_true
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "shuffle-with-sampler"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for call in code.calls("torch.utils.data.DataLoader"):
        sampler, batches = _given(call, "sampler", 3), _given(call, "batch_sampler", 4)
        if sampler and is_true(call, "shuffle", 2):
            text = "sampler and shuffle=True exclude each other: the sampler draws the order"
            yield finding(SLUG, CATEGORY, call.module, call.node, text, argument="shuffle")
        elif batches:
            size = call.constant("batch_size", 1)
            others = [n for n, p in (("shuffle", 2), ("drop_last", 8)) if is_true(call, n, p)]
            others += ["sampler"] if sampler else []
            others += ["batch_size"] if size is not None and size.value != 1 else []
            if others:
                text = f"batch_sampler makes whole batches and excludes {', '.join(others)}"
                yield finding(SLUG, CATEGORY, call.module, call.node, text, argument=others[0])


def _given(call: Call, name: str, position: int) -> bool:
    """Whether an argument surely is an object: a call's result, and nothing that may be None."""
    value = call.argument(name, position)
    if value is None:
        return False
    origins = call.code.origins(value.module, value.node)
    return bool(origins) and all(isinstance(o.node, ast.Call) for o in origins)


_LOADER = """
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, WeightedRandomSampler

def make(data, weights):
    draw = {draw}
    return DataLoader(data, {given}){mark}
"""
BAD = (
    Example(
        _LOADER.format(
            draw="WeightedRandomSampler(weights, 100)",
            given="batch_size=8, shuffle=True, sampler=draw",
            mark="  # found",
        )
    ),
    Example(
        _LOADER.format(
            draw="BatchSampler(RandomSampler(data), 8, True)",
            given="batch_size=8, batch_sampler=draw",
            mark="  # found",
        )
    ),
)
GOOD = (
    Example(
        _LOADER.format(
            draw="WeightedRandomSampler(weights, 100)", given="batch_size=8, sampler=draw", mark=""
        )
    ),
    Example(_LOADER.format(draw="None", given="batch_size=8, shuffle=True, sampler=draw", mark="")),
    Example(
        _LOADER.format(
            draw="RandomSampler(data) if weights else None",
            given="shuffle=draw is None, sampler=draw",
            mark="",
        )
    ),
)
