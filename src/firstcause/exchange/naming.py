"""Which series of a history is the loss, the gradient norm and the learning rate."""

from __future__ import annotations

import re
from collections.abc import Iterable

# By the names of this project's columns: what trainers and people call them, the surest first.
_CALLED = {
    "loss": r"loss|train[/_]loss(_step)?|training[/_]loss|loss[/_]train(ing)?|train[/_]total_loss|total_loss|train[/_]loss_epoch",
    "grad_norm": r"grad_norm|train[/_]grad_norm|gradient_norm|train[/_]gradient_norm|grad_norm[/_]total|grad_2\.0_norm_total",
    "lr": r"lr|learning_rate|train[/_]lr|train[/_]learning_rate|lr-\w+|lr[/_]\w+",
}


def named(names: Iterable[str]) -> dict[str, str]:
    """The series that is each of this project's columns, by that column; a column that none is, is not there."""
    known = sorted(names)
    found = {}
    for column, pattern in _CALLED.items():
        ways = [re.compile(way, re.IGNORECASE) for way in pattern.split("|")]
        chosen = next((n for way in ways for n in known if way.fullmatch(n)), None)
        if chosen is not None:
            found[column] = chosen
    return found
