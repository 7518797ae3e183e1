"""Differences between a prediction and a target that are averaged before they are squared or made absolute.

Errors of opposite sign cancel there, so that a loss near zero says nothing of each. ``settings["squared"]``, a list of
[file, line], has the root of the mean square taken there in place of the mean.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from firstcause.lab import places
from firstcause.lab.audit import Call, Watcher

AVERAGES = frozenset({"mean", "nanmean", "sum"})
SIZES = frozenset({"pow", "square", "abs", "mul"})
# What leaves a size a size on its way to the loss.
ENDS = frozenset({"mean", "sum", "sqrt"})
# The root of a mean square has no derivative at 0.
FLOOR = 1e-24


class Squared(TorchFunctionMode):
    """Between ``__enter__`` and ``__exit__``, averages at some lines are roots of mean squares. Sealed child only."""

    def __init__(self, lines: frozenset[tuple[str, int]]) -> None:
        super().__init__()
        self.lines = lines

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        given: Any = args[0] if args else None
        if str(getattr(func, "__name__", "")) in AVERAGES and hasattr(given, "_firstcause_gap"):
            site = places.of_frame(sys._getframe(1), columns=True)
            if site is not None and (site["file"], site["line"]) in self.lines:
                squares = given.square()
                # The watcher sees what is called here.
                squares._firstcause_squares = True
                return func(squares, *args[1:], **kwargs).clamp(min=FLOOR).sqrt()
        return func(*args, **kwargs)


class Watch(Watcher):
    """In the facts ``averaged``: each such average; the column ``apart`` is the mean square of what is averaged there."""

    CALLS = frozenset({"sub", "rsub"}) | AVERAGES | SIZES | ENDS

    def start(self) -> None:
        self.seen: dict[tuple[str, int], dict[str, Any]] = {}
        self.apart: list[float] = []
        self.backwards = 0
        self.lines = frozenset((f, n) for f, n in self.settings.get("squared") or ())
        if self.lines:
            self.squared = Squared(self.lines)
            self.squared.__enter__()

    def called(self, call: Call) -> None:
        given, result = call.args[0] if call.args else None, call.result
        if not isinstance(given, torch.Tensor) or not isinstance(result, torch.Tensor):
            return
        if call.name in ("sub", "rsub"):
            other = call.args[1] if len(call.args) > 1 else None
            # A prediction against what was given, element by element.
            if (
                isinstance(other, torch.Tensor)
                and given.shape == other.shape == result.shape
                and given.requires_grad != other.requires_grad
                and result.is_floating_point()
            ):
                result._firstcause_gap = (other if given.requires_grad else given).detach()
        elif call.name in AVERAGES and hasattr(given, "_firstcause_squares"):
            self.apart.append(float(given.detach().mean()))
        elif call.name in AVERAGES and hasattr(given, "_firstcause_gap"):
            self._averaged(call, given, result)
        elif call.name in SIZES and (key := getattr(given, "_firstcause_averaged", None)):
            itself = call.name != "mul" or (len(call.args) > 1 and call.args[1] is given)
            if itself and (call.name != "pow" or _is_even(call)):
                self.seen[key]["used"] += 1
                result._firstcause_size = key
        elif call.name in ENDS and (key := getattr(given, "_firstcause_size", None)):
            result._firstcause_size = key

    def _averaged(self, call: Call, given: torch.Tensor, result: torch.Tensor) -> None:
        site = places.of_frame(sys._getframe(2), columns=True)
        asked = call.kwargs.get("dim", call.args[1] if len(call.args) > 1 else None)
        axes = (
            list(range(given.dim())) if asked is None else [asked] if isinstance(asked, int) else list(asked)
        )
        target: Any = given._firstcause_gap
        if site is None or result.numel() >= given.numel() or not axes:
            return
        if bool((target.amax(axes) == target.amin(axes)).all()):
            # One target for all that is averaged: their mean is the prediction.
            return
        key = (site["file"], site["line"])
        start = {"site": site, "function": call.name, "shape": list(given.shape), "left": result.numel()}
        found = self.seen.setdefault(key, start | {"used": 0, "whole_loss": 0, "spread": 0.0})
        # What is left of each error where the target's mean is predicted.
        found["spread"] = float((target - target.mean(0)).square().mean())
        result._firstcause_averaged = key
        self.apart.append(float(given.detach().square().mean()))

    def loss(self, value: torch.Tensor) -> None:
        self.backwards += 1
        found = self.seen.get(getattr(value, "_firstcause_size", ("", 0)))
        if found is not None:
            found["whole_loss"] += 1

    def figures(self) -> dict[str, Any]:
        taken, self.apart = self.apart, []
        value = sum(taken) / len(taken) if taken else math.nan
        return {"apart": value} if math.isfinite(value) else {}

    def facts(self) -> dict[str, Any]:
        return {"averaged": [s | {"backwards": self.backwards} for s in self.seen.values()]}


def _is_even(call: Call) -> bool:
    exponent = call.args[1] if len(call.args) > 1 else call.kwargs.get("exponent")
    return isinstance(exponent, (int, float)) and exponent % 2 == 0
