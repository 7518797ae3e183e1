"""The terms of a loss that are squared or absolute errors: where their targets lie, and the same errors of scaled targets."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from firstcause.lab import places
from firstcause.lab.audit import Call
from firstcause.lab.derived import Derived

# The power of the target's unit that the value of an error is in.
LOSSES = {"mse_loss": 2, "l1_loss": 1}
POWERS = {"pow": 2, "square": 2, "mul": 2, "abs": 1}
ONWARD = frozenset({"mean", "sum", "mul", "rmul", "div", "truediv"})
CALLS = frozenset(LOSSES) | frozenset(POWERS) | ONWARD | {"sub", "rsub"}
Place = tuple[str, int, int]


@dataclass
class Regressed:
    """One line at which predictions are compared with targets, and what the targets came to."""

    site: dict[str, Any]
    # 0 or 1: which of the two is the target.
    operand: int
    power: int = 0
    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def told(self) -> dict[str, Any]:
        """Mean and standard deviation of all targets that were seen."""
        average = self.total / self.count
        spread = math.sqrt(max(self.squares / self.count - average**2, 0.0))
        return {
            "site": self.site,
            "operand": self.operand,
            "power": self.power,
            "mean": average,
            "spread": spread,
        }


class Regressions:
    """Follows errors from the line of their target to the number that is a term of the loss."""

    def __init__(self) -> None:
        self.all: dict[Place, Regressed] = {}
        # Errors with a sign, and their sizes: only these are terms of a loss.
        self.signed: Derived[Place] = Derived()
        self.known: Derived[Place] = Derived()

    def called(self, call: Call) -> None:
        """Note what an error is, or becomes by this call."""
        result = call.result
        if not isinstance(result, torch.Tensor) or not result.requires_grad:
            return
        if call.name in LOSSES or call.name in ("sub", "rsub"):
            self._compared(call)
            return
        given = call.args[0] if call.args else None
        signed, key = self.signed.of(given), self.known.of(given)
        if signed is not None and call.name in POWERS:
            itself = call.name != "mul" or call.args[1] is given
            if itself and (call.name != "pow" or _exponent(call) == 2):
                self.all[signed].power = POWERS[call.name]
                self.known.note(result, signed)
        elif key is not None and (call.name in ("mean", "sum") or (call.name in ONWARD and _by_number(call))):
            self.known.note(result, key)

    def _compared(self, call: Call) -> None:
        one, other = (*call.args, None, None)[:2]
        target = other if other is not None else call.kwargs.get("target")
        if not isinstance(one, torch.Tensor) or not isinstance(target, torch.Tensor):
            return
        if one.shape != target.shape or one.requires_grad == target.requires_grad:
            return
        operand = 0 if target.requires_grad else 1
        target = one if operand == 0 else target
        site = places.of_frame(sys._getframe(3), columns=True)
        if site is None or not target.is_floating_point() or not target.numel():
            return
        key = place_of(site)
        error = self.all.setdefault(key, Regressed(site, operand, LOSSES.get(call.name, 0)))
        if error.operand == operand:
            values = target.detach().double()
            error.count += values.numel()
            error.total += float(values.sum())
            error.squares += float(values.square().sum())
            (self.known if call.name in LOSSES else self.signed).note(call.result, key)


class Scaled(TorchFunctionMode):
    """Between ``__enter__`` and ``__exit__``, the targets at one place have mean 0 and spread 1. Sealed child only."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__()
        self.key, self.operand = place_of(error["site"]), int(error["operand"])
        self.mean, self.spread = float(error["mean"]), float(error["spread"])

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = str(getattr(func, "__name__", "")).strip("_")
        if name in LOSSES or name in ("sub", "rsub"):
            site = places.of_frame(sys._getframe(1), columns=True)
            if site is not None and place_of(site) == self.key:
                given = list(args)
                if len(given) > self.operand:
                    given[self.operand] = (given[self.operand] - self.mean) / self.spread
                elif "target" in kwargs:
                    kwargs = kwargs | {"target": (kwargs["target"] - self.mean) / self.spread}
                return func(*given, **kwargs)
        return func(*args, **kwargs)


def place_of(site: dict[str, Any]) -> Place:
    """What tells two expressions of one line apart, where Python tells their columns."""
    return site["file"], int(site["line"]), int(site.get("column", -1))


def _exponent(call: Call) -> Any:
    return call.args[1] if len(call.args) > 1 else call.kwargs.get("exponent")


def _by_number(call: Call) -> bool:
    return any(isinstance(x, int | float) for x in call.args[:2])
