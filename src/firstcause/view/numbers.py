"""Figures as the page gets them: five digits, and names for what JSON lacks."""

from __future__ import annotations

import math
from collections.abc import Iterable


def number(value: float) -> float | None:
    """The value with five significant digits; None where it is not finite."""
    return float(f"{value:.5g}") if math.isfinite(value) else None


def numbers(values: Iterable[float]) -> list[float | None]:
    return [number(float(value)) for value in values]


def figure(value: object) -> int | float | None:
    """A value of a record as it stands, where it is a finite number; else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if math.isfinite(value) else None
