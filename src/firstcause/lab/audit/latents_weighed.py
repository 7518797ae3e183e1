"""How much each value of a reconstruction weighs beside each number of the divergence of what it is rebuilt from.

With ``settings["divided"]``, a number, the gradient of the divergence is divided by it.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.audit import Call, Watcher
from firstcause.lab.divergences import CALLS, Divergences

# What the size of an error is a likelihood of.
LOSSES = {
    "mse_loss": "square",
    "l1_loss": "abs",
    "binary_cross_entropy": "nats",
    "binary_cross_entropy_with_logits": "nats",
}
SIZES = {"pow": "square", "square": "square", "mul": "square", "abs": "abs"}
SHAPED = frozenset({"flatten", "view", "reshape", "sum"})
Found = dict[str, Any]


class Watch(Watcher):
    """Facts: ``latents``, the last step with one of both: the weights, where it was averaged, and the spread of the data."""

    CALLS = CALLS | frozenset(LOSSES) | frozenset(SIZES) | SHAPED | {"mean"}

    def start(self) -> None:
        self.divergences = Divergences()
        self.divisor = float(self.settings.get("divided") or 1.0)
        self.errors: list[Found] = []
        self.nats: list[Found] = []
        self.steps: list[Found] = []
        self.values: dict[str, float] = {}

    def called(self, call: Call) -> None:
        if self.divergences.called(call) and call.result.requires_grad:
            self._diverges(call)
        given, result = call.args[0] if call.args else None, call.result
        if not isinstance(given, torch.Tensor) or not isinstance(result, torch.Tensor):
            return
        if not result.requires_grad:
            return
        if call.name in LOSSES:
            self._lost(call)
        elif call.name in ("sub", "rsub"):
            other = call.args[1] if len(call.args) > 1 else None
            if isinstance(other, torch.Tensor) and _compares(given, other):
                result._firstcause_against = other if given.requires_grad else given
        elif call.name in SIZES and hasattr(given, "_firstcause_against"):
            if call.name in ("square", "abs") or (len(call.args) > 1 and _squares(call)):
                self._point(result, given._firstcause_against, SIZES[call.name])
        elif (found := getattr(given, "_firstcause_error", None)) is not None:
            if call.name == "mean":
                self._averaged(call, found, given, result)
            elif call.name in SHAPED and result.dim() and result.shape[0] == given.shape[0]:
                result._firstcause_error = found

    def _diverges(self, call: Call) -> None:
        result = call.result
        known = next((x for x in call.args[:2] if hasattr(x, "_firstcause_nats")), None)
        # A constant that is added behind: the same sum, of which the gradient is known.
        result._firstcause_nats = True
        if known is not None or result.dim() < 2:
            return
        site = places.of_frame(sys._getframe(3), columns=True)
        found: Found = {"site": site, "shape": list(result.shape), "weight": 0.0}
        found["value"] = 0.5 * float(result.detach().flatten(1).sum(1).mean().abs())

        def arrived(gradient: torch.Tensor) -> torch.Tensor | None:
            # Of each number of a divergence, a half stands before the sum.
            found["weight"] = 2 * float(gradient.abs().mean())
            return gradient / self.divisor if self.divisor != 1 else None

        result.register_hook(arrived)
        self.nats.append(found)

    def _lost(self, call: Call) -> None:
        target = call.args[1] if len(call.args) > 1 else call.kwargs.get("target")
        if not isinstance(target, torch.Tensor) or not _compares(call.args[0], target):
            return
        reduction = call.kwargs.get("reduction", "mean")
        if reduction == "none":
            self._point(call.result, target, LOSSES[call.name])
        elif reduction == "mean" and target.dim() > 1:
            site = places.of_frame(sys._getframe(3), columns=True)
            one = _error(target, LOSSES[call.name], float(call.result.detach()))
            one |= {"site": site, "function": call.name, "features": target[0].numel()}
            self._hooked(call.result, one, target.numel())

    def _point(self, result: torch.Tensor, target: torch.Tensor, kind: str) -> None:
        if result.dim() < 2:
            return
        found = _error(target, kind, float(result.detach().mean()))
        result._firstcause_error = found
        self._hooked(result, found, 1)

    def _hooked(self, result: torch.Tensor, found: Found, count: int) -> None:
        def arrived(gradient: torch.Tensor) -> None:
            found["weight"] = float(gradient.abs().mean()) / count

        result.register_hook(arrived)
        self.errors.append(found)

    def _averaged(self, call: Call, found: Found, given: torch.Tensor, result: torch.Tensor) -> None:
        asked = call.args[1] if len(call.args) > 1 else call.kwargs.get("dim")
        axes = range(given.dim()) if asked is None else [asked] if isinstance(asked, int) else list(asked)
        inner = math.prod(given.shape[a] for a in axes if a % given.dim())
        if inner > 1:
            found["features"] *= inner
            found |= {"site": places.of_frame(sys._getframe(3), columns=True), "function": "mean"}
            found["axes"] = asked is not None
        result._firstcause_error = found

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        errors, nats = ([f for f in of if f["weight"]] for of in (self.errors, self.nats))
        self.errors, self.nats, self.values = [], [], {}
        self.divergences = Divergences()
        if len(errors) == len(nats) == 1:
            # The last one: a weight that is raised step by step has come to what is meant.
            self.steps = [{"error": errors[0], "nats": nats[0]}]
            self.values = {"rebuilt": errors[0]["value"], "nats": nats[0]["value"]}

    def figures(self) -> dict[str, Any]:
        return self.values

    def facts(self) -> dict[str, Any]:
        return {"latents": self.steps}


def _compares(one: torch.Tensor, other: torch.Tensor) -> bool:
    return bool(one.dim() > 0 and one.shape == other.shape and one.requires_grad != other.requires_grad)


def _squares(call: Call) -> bool:
    other = call.args[1]
    return other is call.args[0] if call.name == "mul" else isinstance(other, int | float) and other == 2


def _error(target: torch.Tensor, kind: str, value: float) -> Found:
    """What is known of an error at first; its spread is what it would be if each value were foretold by its mean."""
    data = target.detach().float()
    apart = data - data.mean(0)
    spread = float(apart.square().mean() if kind == "square" else apart.abs().mean())
    return {"kind": kind, "spread": spread, "value": value, "weight": 0.0, "features": 1, "batch": len(data)}
