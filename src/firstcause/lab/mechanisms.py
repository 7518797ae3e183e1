"""What the birth of a bad value looked like in its operands, beyond ranges: masked rows, ignored targets, counts."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from firstcause.lab import attention

SPREADS = frozenset({"std", "var", "std_mean", "var_mean"})
LOSSES = frozenset({"nll_loss_forward", "nll_loss2d_forward", "nll_loss", "nll_loss2d"})


def measure(name: str, func: Any, args: Any, kwargs: Any, made: torch.Tensor) -> dict[str, Any]:
    """The figures that one op's mechanism is told by; empty for most ops."""
    given = bound(func, args, kwargs)
    if name in SPREADS:
        return {"spread": _spread(given)}
    if name in LOSSES:
        return {"targets": _targets(given)}
    masked = attention.measure(name, given)
    if masked:
        return {"masked": masked}
    inputs = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
    if made.numel() and inputs and not any(x.numel() for x in inputs):
        return {"empty": True}
    return {}


def noted(name: str, func: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """What of an op's mechanism is kept although its result is good: a sum over no target is 0, and its mean is not."""
    return {"targets": _targets(bound(func, args, kwargs))} if name in LOSSES else {}


def bound(func: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """The arguments of an op by the names of its schema, defaults included."""
    named: dict[str, Any] = {a.name: a.default_value for a in func._schema.arguments if a.has_default_value()}
    named.update(zip([a.name for a in func._schema.arguments], args, strict=False))
    named.update(kwargs)
    return named


def _spread(given: dict[str, Any]) -> dict[str, Any]:
    """How many values each spread is computed of, and what is subtracted from their count."""
    values, dims = given["self"], given.get("dim")
    dims = [dims] if isinstance(dims, int) else dims
    sizes = [values.shape[d] for d in dims] if dims and values.dim() else list(values.shape)
    correction = given.get("correction")
    if correction is None:
        correction = 1 if given.get("unbiased", True) else 0
    return {"values": math.prod(sizes), "correction": float(correction), "shape": list(values.shape)}


def _targets(given: dict[str, Any]) -> dict[str, Any]:
    """How many targets there are, and how many of them carry the label that does not count."""
    target, ignored, weight = given["target"], int(given.get("ignore_index", -100)), given.get("weight")
    skipped = target == ignored
    facts = {"count": target.numel(), "ignored": int(skipped.sum()), "ignore_index": ignored}
    if isinstance(weight, torch.Tensor):
        facts["weightless"] = int((weight[target[~skipped]] == 0).sum())
    return facts
