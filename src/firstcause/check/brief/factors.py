"""What a batch is made of: "effective batch 128 (64 x 2)", "batches of 32 (4 x 8 accumulation)"."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise

from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading

# "Batch 40 = 5 x 8" does not say of what there are 8.
_OPENS = frozenset({"(", "i.e", "so", "as"})
_TIMES = frozenset({"x", "times"})
_OFTEN = {"twice": 2, "thrice": 3}
_JOINED = re.compile(r"(\d{1,5})x(\d{1,4})")


def batch_factors(line: Line, heard: Sequence[Reading] = ()) -> None:
    """Claim the batch of a device and the accumulation where their product is a batch that is named just before."""
    for reading in list(line.readings):
        whole_batch = reading.key == "effective_batch_size"
        if not whole_batch and (reading.key != "batch_size" or reading.scope):
            continue
        at = reading.last + 1
        if at >= len(line.tokens) or line.tokens[at].text not in _OPENS or not isinstance(reading.value, int):
            continue
        at += at + 1 < len(line.tokens) and line.tokens[at + 1].text in _OPENS | {"="}
        places, factors = _factors(line, at + 1)
        cards = next((r.value for r in (*line.readings, *heard) if r.key == "num_gpus"), 1)
        product = math.prod(factors)
        if len(factors) != 2 or reading.value not in (product, product * cards):
            continue
        reading.key = "effective_batch_size"
        last = places[-1]
        following = line.tokens[last + 1] if last + 1 < len(line.tokens) else None
        if not any(r.key == "batch_size" for r in line.readings):
            line.claim(Reading("batch_size", whole(factors[0]), places[0], places[0], scope="per_device"))
        of_cards = following is not None and (following.kind == "card" or following.key == "num_gpus")
        if not of_cards and not any(
            r.key in ("gradient_accumulation", "num_gpus") for r in line.readings if r.first >= last
        ):
            line.claim(Reading("gradient_accumulation", whole(factors[1]), last, last))


def accumulated_often(line: Line) -> None:
    """Claim "accumulated twice"."""
    for at, (token, after) in enumerate(pairwise(line.tokens)):
        if {"as", "that", "the"} & set(line.words(at + 2, at + 3)):
            # "Accumulate gradients twice as long".
            continue
        if token.key == "gradient_accumulation" and not token.claimed and after.text in _OFTEN:
            line.claim(Reading("gradient_accumulation", _OFTEN[after.text], at, at + 1))
            return


def _factors(line: Line, at: int) -> tuple[list[int], list[int]]:
    """The places and the values of "64 x 2" from here on."""
    tokens = line.tokens
    if at >= len(tokens):
        return [], []
    if joined := _JOINED.fullmatch(tokens[at].text):
        return [at], [int(joined[1]), int(joined[2])]
    places: list[int] = []
    while at < len(tokens) and tokens[at].kind == "number" and tokens[at].value == int(tokens[at].value):
        places.append(at)
        crosses = at + 1 < len(tokens) and tokens[at + 1].text in _TIMES
        # "64 x2": the sign is a part of the number.
        at += 2 if crosses else 1
        if not crosses and not (at < len(tokens) and tokens[at].unit == "x"):
            break
    return places, [int(tokens[n].value) for n in places]
