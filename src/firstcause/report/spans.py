"""Times as a person reads them while waiting."""

from __future__ import annotations


def span(seconds: float) -> str:
    """45 s, 3 min 20 s, 2 h 5 min: two units at most."""
    whole = round(max(0.0, seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest and minutes < 10 else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"
