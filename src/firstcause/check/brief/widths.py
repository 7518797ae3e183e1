"""How wide layers are: "three hidden layers, 256 wide", "two layers, each 128 wide"."""

from __future__ import annotations

from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading


def wide_layers(line: Line) -> None:
    """Claim the width, and leave the count of layers to the number that stands before them."""
    for at, token in enumerate(line.tokens):
        if not any(t.key in ("num_layers", "hidden_size") for t in line.tokens[:at]):
            continue
        if token.kind == "number" and not token.claimed and line.words(at + 1, at + 2) == ["wide"]:
            line.claim(Reading("hidden_size", whole(token.value), at, at + 1))
