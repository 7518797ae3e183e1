"""A data set is split at random, differently in each run.

Why: a resumed or repeated run validates on what the first one trained on, and figures of two runs cannot be compared.
Refuted by: a generator, a seed set anywhere in the program.
Holds for: torch, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "random-split-unseeded"
CATEGORY: Category = "suggestion"
HOLDS: Mapping[str, str] = {}

SEEDS = {
    "manual_seed",
    "set_seed",
    "seed_everything",
    "fix_seed",
    "seed_all",
    "manual_seed_all",
    "enable_full_determinism",
}


def find(code: Code) -> Iterator[Finding]:
    if code.called_names() & SEEDS or any("seed" in name.lower() for name in code.called_names()):
        return
    for call in code.calls("torch.utils.data.random_split"):
        if not call.may_have("generator") and len(call.node.args) < 3:
            text = "the split is drawn anew in each run; generator=torch.Generator().manual_seed(…) keeps it"
            yield finding(SLUG, CATEGORY, call.module, call.node, text, argument="generator")


_BODY = """
import torch
from torch.utils.data import random_split

{seed}

def parts(data):
    return random_split(data, [0.9, 0.1]{given}){mark}
"""
BAD = (
    Example(_BODY.format(seed="", given="", mark="  # found")),
    Example(_BODY.format(seed="torch.set_num_threads(1)", given="", mark="  # found")),
)
GOOD = (
    Example(_BODY.format(seed="torch.manual_seed(0)", given="", mark="")),
    Example(_BODY.format(seed="", given=", generator=torch.Generator()", mark="")),
    Example("def random_split(data, parts):\n    return data\n\n\nprint(random_split([1], [1.0]))\n"),
)
