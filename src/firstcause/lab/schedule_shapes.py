"""The shape of a schedule's curve: over how many calls it rises, when it falls no more, and what its calls are named."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from firstcause.lab.schedules import MOST_CALLS, end_of

# A rate that starts above this share of its top does not warm up, and one that stays above the other does not decay.
COLD, DECAYED = 0.5, 0.9
# Values this near to the lowest one, in parts of it, are the lowest one; a decay without end goes on falling in parts.
LEVEL = 1e-9


def shape_of(schedule: Any) -> dict[str, Any]:
    """``warm_up`` and ``settled`` in calls (None where there is none), ``top`` as a factor of the rate, and ``words``."""
    inner = list(getattr(schedule, "_schedulers", None) or ())
    if inner:
        # The rise of a chain is that of its first part, and its end that of its last one.
        first = shape_of(inner[0])
        last = end_of(schedule)
        words = [w for one in inner for w in shape_of(one)["words"]]
        return {"warm_up": first["warm_up"], "settled": last, "top": first["top"], "words": words}
    if type(schedule).__name__ == "LinearLR":
        rises = schedule.start_factor < COLD * schedule.end_factor
        top = max(schedule.start_factor, schedule.end_factor)
        return {
            "warm_up": int(schedule.total_iters) if rises else None,
            "settled": None if rises else int(schedule.total_iters),
            "top": float(top),
            "words": [],
        }
    factors = list(getattr(schedule, "lr_lambdas", None) or ()) if _is_lambda(schedule) else []
    if not factors:
        return {"warm_up": None, "settled": end_of(schedule), "top": 1.0, "words": []}
    return _of_factor(factors[0]) | {"words": sorted(set(_names(factors[0])))}


def _is_lambda(schedule: Any) -> bool:
    return any(kind.__name__ == "LambdaLR" for kind in type(schedule).__mro__)


def _of_factor(factor: Callable[[int], float]) -> dict[str, Any]:
    values = []
    try:
        for call in range(MOST_CALLS):
            values.append(abs(float(factor(call))))
    except (ArithmeticError, LookupError, TypeError, ValueError):
        # A function of its own that knows no call as late as that.
        return {"warm_up": None, "settled": None, "top": max(values, default=1.0)}
    top = max(values)
    highest = values.index(top)
    rising = all(b >= a for a, b in itertools.pairwise(values[: highest + 1]))
    warms = rising and values[0] < COLD * top and highest < MOST_CALLS - 1
    low = min(values[highest:])
    lowest = next(n for n in range(highest, MOST_CALLS) if values[n] <= low * (1 + LEVEL))
    falls = low < DECAYED * top and lowest < MOST_CALLS - 1
    return {"warm_up": highest if warms else None, "settled": lowest if falls else None, "top": top}


def _names(factor: Any) -> Iterator[str]:
    """The names by which a factor knows its argument and its numbers."""
    if isinstance(factor, functools.partial):
        yield from factor.keywords
        yield from _names(factor.func)
        return
    plain = getattr(factor, "__func__", factor)
    code = getattr(plain, "__code__", None)
    if code is None:
        # An object that is called.
        code = getattr(getattr(type(plain), "__dict__", {}).get("__call__"), "__code__", None)
    if code is not None:
        yield from (*code.co_varnames, *code.co_freevars, *code.co_names)
