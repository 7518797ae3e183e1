"""Which places at the ends of sequences only fill them up to one length."""

from __future__ import annotations

from typing import Any

import torch

# Zeros within a series, of its own values, beyond which those at its end are its own too: a picture of black and white.
MOST_WITHIN = 0.2
# Sequences of a batch that must end earlier than the longest, and the different lengths among them.
LEAST_SHORTER, LEAST_LENGTHS = 2, 2


def tails(value: torch.Tensor, marker: Any = None) -> torch.Tensor | None:
    """A mask (batch, length) of the filled places; None where the sequences do not end with such.

    ``value`` is (batch, length) or (batch, length, features). The filling is one value that stands nowhere but at the
    ends, or ``marker`` where the program names it.
    """
    flat = value if value.dim() == 2 else value.flatten(2)
    filling = marker
    if marker is None:
        # Series are filled with zeros; another value that stands at their ends is theirs.
        filling = 0.0 if value.is_floating_point() else flat[:, -1].flatten().mode().values
    same = flat == filling
    same = same if same.dim() == 2 else same.all(-1)
    filled = same.flip(1).cumprod(1).flip(1).bool()
    lengths = (~filled).sum(1)
    within = int((same & ~filled).sum())
    if marker is None and within > (MOST_WITHIN * int(lengths.sum()) if value.is_floating_point() else 0):
        return None
    shorter = lengths < value.shape[1]
    enough = int(shorter.sum()) >= LEAST_SHORTER and len(lengths.unique()) >= LEAST_LENGTHS
    return filled if enough and not bool((lengths == 0).any()) else None
