"""Units that give nothing or sit at their bound in the first steps, and weights that begin equal or on no fitting scale.

With ``settings["start"]`` the training begins in another way (``lab/starts``).
"""

from __future__ import annotations

from typing import Any

import torch

from firstcause.lab import places, starts
from firstcause.lab.audit import Call, Watcher
from firstcause.lab.drawn_by_libraries import weights_of_libraries
from firstcause.record.observe.failure import parameter_names

# Steps that are looked at, and calls of one pass.
FIRST, MOST = 6, 64
# Inputs beyond this leave sigmoid and tanh less than a fiftieth of their slope.
BEYOND = 4.0
# A bias is torch's own up to so many times its bound.
FAR = 2.0
WEIGHTED = frozenset({"linear", "conv1d", "conv2d", "conv3d"})


class Watch(Watcher):
    """Facts: ``units`` in the order of a pass, ``weights`` in the order of their use, ``inputs`` of the first layer."""

    CALLS = WEIGHTED | {"relu", "sigmoid", "tanh"}

    def start(self) -> None:
        self.begun = starts.Start(self.settings)
        self.order = starts.Order()
        self.steps = 0
        self.units: dict[int, dict[str, Any]] = {}
        self.live: dict[int, torch.Tensor] = {}
        self.weights: dict[int, dict[str, Any]] = {}
        self.held: dict[int, torch.Tensor] = {}
        self.inputs: dict[str, Any] = {}
        self.by_channel = False
        self.foreign: frozenset[int] = frozenset()

    def called(self, call: Call) -> None:
        activates = call.name not in WEIGHTED
        number = self.order.next() if activates else 0
        if self.steps >= FIRST or not torch.is_grad_enabled() or number >= MOST or not call.args:
            return
        with torch.no_grad():
            value = call.args[0].detach()
            if not value.is_floating_point() or not value.numel():
                return
            if activates:
                self._activated(number, call.name, value, call.result.detach())
            elif len(call.args) > 1:
                self.by_channel = call.name != "linear"
                self._weighted(call, value, call.result.detach())

    def _activated(self, number: int, kind: str, value: torch.Tensor, result: torch.Tensor) -> None:
        axis = 1 if self.by_channel and value.dim() > 2 else value.dim() - 1
        over = [d for d in range(value.dim()) if d != axis]
        live = (result != 0).any(dim=over) if over else result != 0
        if number not in self.units:
            self.units[number] = {
                "kind": kind,
                "units": len(live),
                "dead_first": float((~live).float().mean()),
                "beyond": float((value.abs() > BEYOND).float().mean()),
                "size": float(value.abs().float().mean()),
                "after": len(self.weights),
                "site": places.here(),
            }
        known = self.live.get(number)
        self.live[number] = live if known is None or known.shape != live.shape else known | live

    def _weighted(self, call: Call, value: torch.Tensor, result: torch.Tensor) -> None:
        weight = call.args[1]
        if id(weight) in self.weights or not isinstance(weight, torch.nn.Parameter):
            return
        if not self.weights:
            self.foreign = weights_of_libraries()
            self.inputs = {"mean": float(value.mean()), "size": float(value.square().mean().sqrt())}
        self.held[id(weight)] = weight
        self.weights[id(weight)] = {
            "ratio": float(weight.float().std()) / starts.spread_of_default(weight)
            if weight.numel() > 1
            else 1.0,
            "rows": len(weight),
            "drawn_by_library": id(weight) in self.foreign,
            "alike": _alike(weight),
            "bias": _share_of_bias(call, result),
            "gain": float(result.std() / value.std().clamp_min(1e-12)) if result.numel() > 1 else 1.0,
            "site": places.here(),
        }

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.steps += 1
        for key, weight in self.held.items():
            one = self.weights[key]
            if "gradient" not in one and weight.grad is not None:
                one["gradient"] = float(weight.grad.detach().float().square().mean().sqrt())
            if self.steps == FIRST:
                one["still_alike"] = _alike(weight)

    def facts(self) -> dict[str, Any]:
        names = parameter_names(self.recorder)
        units = [
            u
            | {
                "dead": float((~self.live[n]).float().mean()),
                "number": n,
                "hidden": u["after"] < len(self.weights),
            }
            for n, u in sorted(self.units.items())
        ]
        weights = [w | {"name": names.get(k, "unnamed")} for k, w in self.weights.items()]
        return {
            "units": units,
            "weights": weights,
            "inputs": self.inputs,
        } | self.begun.facts()


def _share_of_bias(call: Call, result: torch.Tensor) -> float:
    """The mean size of a bias over the spread of what it is added to; 0 without one, or one of torch's own size."""
    bias = call.args[2] if len(call.args) > 2 else call.kwargs.get("bias")
    if not isinstance(bias, torch.nn.Parameter) or result.numel() < 2:
        return 0.0
    size = float(bias.detach().abs().float().mean())
    if size <= FAR * 3**0.5 * starts.spread_of_default(call.args[1]):
        # As torch draws it: where all samples are alike here, it is large beside no spread at all.
        return 0.0
    # What a unit's bias adds is the same for all samples: it is no part of this spread.
    by_unit = result.transpose(1, -1) if call.name != "linear" else result
    spread = by_unit.reshape(-1, by_unit.shape[-1]).float().std(dim=0).mean()
    return size / max(float(spread), 1e-12)


def _alike(weight: torch.Tensor) -> bool:
    """Whether every unit has the same weights."""
    rows = weight.detach().flatten(1).float() if weight.dim() > 1 else weight.detach()[:, None].float()
    return len(rows) > 1 and float((rows - rows[0]).abs().max()) <= 1e-6 * float(rows.abs().max()) + 1e-12
