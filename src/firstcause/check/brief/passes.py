"""What one pass through the network holds: "128 per update, at 8 per forward/backward pass"."""

from __future__ import annotations

import re

from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading

_BOTH_WAYS = re.compile(r"(?:forward|fwd)[ /+&-]{0,3}(?:and )?(?:backward|bwd)?")
_REACH = 3


def per_both_ways(line: Line) -> None:
    """Claim the batch of one pass, which counts no epochs."""
    tokens = line.tokens
    for at, token in enumerate(tokens[:-2]):
        last = next(
            (n for n in range(at + 1, min(at + 6, len(tokens))) if tokens[n].text in ("pass", "passes")), 0
        )
        if not token.has("every") or not last or token.claimed:
            continue
        if not _BOTH_WAYS.fullmatch(" ".join(line.words(at + 1, last)).replace(" / ", "/")):
            continue
        number = next(
            (n for n in range(at - 1, max(-1, at - _REACH - 1), -1) if tokens[n].kind == "number"), -1
        )
        if (
            number >= 0
            and not tokens[number].claimed
            and not tokens[number].unit
            and tokens[number].value >= 1
        ):
            line.claim(
                Reading("batch_size", whole(tokens[number].value), number, last, scope="per_device"),
                number, *range(at, last + 1),
            )  # fmt: skip
