"""The call that raised, in plain facts: torch's own, or NumPy's and the program's with the arrays on their line."""

from __future__ import annotations

import inspect
import linecache
import re
from traceback import walk_tb
from types import FrameType
from typing import Any

import torch

from firstcause.lab import places, tensors
from firstcause.lab.calls import Call, Calls, Given, is_array
from firstcause.lab.names import name_in, named
from firstcause.lab.repeats import Repeats
from firstcause.lab.trials import try_all

# Calls that give the same values in the same shape.
SAME = frozenset({"detach", "cpu", "contiguous", "clone", "float", "double"})
_SHAPE = re.compile(r"\((\d+(?:,\s*\d+)*,?|)\)")


def describe(calls: Calls, error: BaseException) -> dict[str, Any]:
    """The refused call, what was tried in its place, the calls behind it, and what left torch for NumPy."""
    refused = calls.refused
    if refused is not None and led_to(refused[1], error):
        call, asked = refused[0], list(refused[0].given())
        facts = {
            "function": call.name,
            "site": call.site,
            "modules": refused[2],
            "grad": call.grad,
            "stack": refused[3],
            "operands": [_operand(call, g) for g in asked],
            "trials": try_all(Repeats(calls, call, asked), refused[1]),
        }
    else:
        facts, asked = _without_call(calls, error)
    behind = calls.behind(asked)
    return facts | {
        "error": str(error),
        "type": type(error).__name__,
        "calls": {str(n): calls.calls[n].facts() for n in sorted(behind)},
        "left": calls.left,
    }


def led_to(raised: BaseException, error: BaseException | None) -> bool:
    """Whether an exception is the one that left the program, or one that it was raised from or in the handling of."""
    for _ in range(10):
        if error is None or error is raised:
            return error is raised
        error = error.__cause__ or error.__context__
    return False


def _operand(call: Call, given: Given) -> dict[str, Any]:
    facts = given.facts() | {"role": _role(call, given)}
    return (tensors.figures(given.kept) if given.kept is not None else {}) | facts


def _role(call: Call, given: Given) -> str:
    """The name of the parameter that a tensor was given to, or its place among the arguments."""
    for key, value in call.kwargs.items():
        if value is given:
            return str(key)
    place = next((i for i, value in enumerate(call.args) if value is given), None)
    try:
        names = list(inspect.signature(call.function).parameters)
    except (TypeError, ValueError):
        # A builtin has no signature that Python can read.
        names = []
    return (
        names[place]
        if place is not None and place < len(names)
        else ""
        if place is None
        else f"argument {place}"
    )


# ------------------------------------------------------------------ raised in Python, before torch was asked


def _without_call(calls: Calls, error: BaseException) -> tuple[dict[str, Any], list[Given]]:
    frames = list(walk_tb(error.__traceback__))
    user = next((f for f in reversed(frames) if places.is_user_file(f[0].f_code.co_filename)), None)
    below = frames[frames.index(user) + 1 :] if user is not None else []
    found = [(t, v, "line") for t, v in _on_line(*user)] if user is not None else []
    found += [(n, v, "library") for frame, _ in below[:1] for n, v in frame.f_locals.items()]
    operands: list[dict[str, Any]] = []
    asked: list[Given] = []
    for text, value, where in found:
        if isinstance(value, torch.Tensor):
            given = calls.given(value)
            asked.append(given)
            operands.append(tensors.figures(value) | given.facts() | {"role": text, "where": where})
        elif is_array(value):
            operands.append(_array(calls, value, user[0] if user else None) | {"role": text, "where": where})
    trials: list[dict[str, Any]] = []
    left = _left(calls, operands, str(error))
    if left is not None:
        origin, target = left
        asked.append(origin)
        trials = try_all(Repeats(calls, None, [origin], target), error)
    site = (
        places.place(user[0].f_code.co_filename, user[1], user[0].f_code.co_name)
        if user is not None
        else None
    )
    facts = {
        "function": None,
        "site": site,
        "modules": [],
        "grad": None,
        "stack": [],
        "operands": operands,
        "trials": trials,
    }
    return facts, asked


def _array(calls: Calls, value: Any, frame: FrameType | None) -> dict[str, Any]:
    return calls.array(value) | name_in(frame, value)


def _on_line(frame: FrameType, line: int) -> list[tuple[str, Any]]:
    """The tensors and arrays that the line names."""
    text = linecache.getline(frame.f_code.co_filename, line)
    return [(t, v) for t, v in named(frame) if re.search(rf"(?<![\w.]){re.escape(t)}(?![\w])", text)]


def _left(calls: Calls, operands: list[dict[str, Any]], message: str) -> tuple[Given, tuple[int, ...]] | None:
    """The tensor whose array NumPy refused, and the shape that it should have had, where its message tells both."""
    shapes = [tuple(int(n) for n in s.replace(" ", "").split(",") if n) for s in _SHAPE.findall(message)]
    if "broadcast" not in message or len(shapes) < 2:
        return None
    known = [o["left"] for o in operands if "left" in o]
    for shape, target in ((shapes[0], shapes[-1]), (shapes[-1], shapes[0])):
        # An array that was computed from another one has no mark of its own: its shape tells it, where that is one alone.
        numbers = [n for n in known if tuple(calls.left[n]["shape"]) == shape] or [
            n for n, facts in enumerate(calls.left) if tuple(facts["shape"]) == shape
        ]
        makers = {_computed(calls, calls.left[n]["made_by"]) for n in numbers if "made_by" in calls.left[n]}
        if len(makers) == 1 and shape:
            number = makers.pop()
            made = calls.calls[number].made[0]
            dtype = getattr(torch, made["dtype"])
            return Given((number, 0), tuple(made["shape"]), dtype, "cpu", None, {}), target
    return None


def _computed(calls: Calls, number: int) -> int:
    """The call that computed what another one only hands on."""
    while calls.calls[number].name in SAME:
        before = next((g.made for g in calls.calls[number].given()), None)
        if before is None:
            break
        number = before[0]
    return number
