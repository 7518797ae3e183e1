"""Weights of samples that multiply a loss which is the batch's mean already: each multiplies the same number.

With ``settings["unreduced"]``, a list of [file, line], the losses there keep a value for each sample.
"""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from firstcause.lab import places
from firstcause.lab.audit import Watcher
from firstcause.lab.loss_functions import LOSSES

LEAST = 8
PRODUCTS = frozenset({"mul", "rmul", "multiply"})


class Products(TorchFunctionMode):
    """Sees each loss and what it is multiplied with. Sealed child only."""

    def __init__(self, unreduced: frozenset[tuple[str, int]]) -> None:
        super().__init__()
        self.unreduced = unreduced
        # The last loss: its value, one for each sample, its batch, and where it is taken.
        self.last: tuple[torch.Tensor, torch.Tensor, dict[str, Any]] | None = None
        self.weighted: float | None = None
        self.seen: dict[tuple[str, int], dict[str, Any]] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = str(getattr(func, "__name__", "")).strip("_")
        if not torch.is_grad_enabled():
            return func(*args, **kwargs)
        if name in LOSSES and len(args) > 1 and isinstance(args[0], torch.Tensor) and args[0].dim():
            return self._loss(func, args, kwargs)
        if name in PRODUCTS and len(args) == 2 and self.last is not None:
            self._product(*args)
        return func(*args, **kwargs)

    def _loss(self, func: Any, args: Any, kwargs: Any) -> Any:
        site = places.of_frame(sys._getframe(2), columns=True)
        result = func(*args, **kwargs)
        if site is None or kwargs.get("reduction", "mean") != "mean" or len(args[0]) < LEAST:
            return result
        each = func(*args, **{**kwargs, "reduction": "none"})
        each = each.flatten(1).mean(1) if each.dim() > 1 else each
        if len(each) != len(args[0]):
            return result
        given = each if (site["file"], site["line"]) in self.unreduced else result
        self.last = given, each, site
        return given

    def _product(self, one: Any, other: Any) -> None:
        assert self.last is not None
        value, each, loss = self.last
        weights = other if one is value else one if other is value else None
        if not isinstance(weights, torch.Tensor) or weights.requires_grad or weights.shape != each.shape:
            return
        if not float(weights.float().std()) > 0:
            return
        total = float(weights.sum())
        if not total:
            return
        with torch.no_grad(), torch._C.DisableTorchFunction():
            self.weighted = float((each * weights).sum()) / total
        site = places.of_frame(sys._getframe(2), columns=True)
        if site is not None and value.dim() == 0:
            key = (site["file"], site["line"])
            one_place = self.seen.setdefault(
                key, {"site": site, "loss": loss, "batch": len(each), "times": 0}
            )
            one_place["times"] += 1


class Watch(Watcher):
    """The column ``weighted`` is the loss by the weights; facts: ``weights_lost``, a place a product."""

    def start(self) -> None:
        self.products = Products(frozenset((f, n) for f, n in self.settings.get("unreduced") or ()))
        self.products.__enter__()

    def figures(self) -> dict[str, Any]:
        weighted, self.products.weighted = self.products.weighted, None
        return {"weighted": weighted}

    def facts(self) -> dict[str, Any]:
        return {"weights_lost": list(self.products.seen.values())}
