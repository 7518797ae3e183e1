"""A seed was asked for and is given to one source of chance, while another one that the program draws from has none.

Why: two runs part at the first number of the source that was left out, and the seed explains nothing.
Refuted by: no seed in the brief, one call that seeds them all (set_seed, seed_everything), generators of one's own.
Holds for: torch, NumPy and Python's random, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.seeding import Source, drawn, seeded

SLUG = "seed-incomplete"
CATEGORY: Category = "deviation"
HOLDS: Mapping[str, str] = {}

CALLS: dict[Source, str] = {"python": "random.seed", "numpy": "numpy.random.seed"}


def find(code: Code) -> Iterator[Finding]:
    if not any(i.polarity == "require" for i in code.asked("seed")):
        return
    given = seeded(code.project)
    if not given:
        return
    taken = drawn(code.project)
    for source, name in CALLS.items():
        draws = [d for d in taken if d.source == source]
        if not draws or any(g.source == source for g in given):
            continue
        last, first = given[-1], draws[0]
        line = first.module.site(first.call)
        text = (
            f"a seed was asked for, and {first.module.segment(first.call.func)} draws ({len(draws)} such calls, the first at"
            f" {line}) from a generator that nothing seeds; call {name}({last.argument or 'seed'}) here too"
        )
        yield finding(SLUG, CATEGORY, last.module, last.call, text, related=(line,))


_BODY = """
import random
import numpy as np
import torch

{seeds}
order = list(range(9))
{draws}
"""
BAD = (
    Example(
        _BODY.format(seeds="torch.manual_seed(7)  # found", draws="random.shuffle(order)"), asked={"seed": 7}
    ),
    Example(
        _BODY.format(
            seeds="random.seed(7)\ntorch.manual_seed(7)  # found", draws="noise = np.random.rand(3)"
        ),
        asked={"seed": 7},
    ),
)
GOOD = (
    Example(
        _BODY.format(seeds="random.seed(7)\ntorch.manual_seed(7)", draws="random.shuffle(order)"),
        asked={"seed": 7},
    ),
    Example(_BODY.format(seeds="torch.manual_seed(7)", draws="random.shuffle(order)")),
    Example(
        _BODY.format(
            seeds="torch.manual_seed(7)\nrng = np.random.default_rng(7)", draws="noise = rng.normal(size=3)"
        ),
        asked={"seed": 7},
    ),
)
