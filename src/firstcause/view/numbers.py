"""Figures as the page gets them: five digits, and names for what JSON lacks."""

from __future__ import annotations

import math
from collections.abc import Iterable


def number(value: float) -> float | None:
    """The value with five significant digits; None where it is not finite."""
    return float(f"{value:.5g}") if math.isfinite(value) else None


def numbers(values: Iterable[float]) -> list[float | None]:
    return [number(float(value)) for value in values]
