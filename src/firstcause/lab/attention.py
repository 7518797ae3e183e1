"""Rows of attention scores that a mask leaves without any key, in a softmax or inside of a fused attention."""

from __future__ import annotations

import math
from typing import Any

import torch

SHOWN = 8
SOFTMAXES = frozenset({"_softmax", "_log_softmax", "softmax", "log_softmax", "_safe_softmax"})


def measure(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """The rows that are masked whole: how many of how many, the first few, and along which axis they run."""
    if name == "logsumexp" and len(given["dim"]) == 1:
        return rows_of(given["self"] == float("-inf"), int(given["dim"][0]))
    if name in SOFTMAXES:
        return rows_of(given["self"] == float("-inf"), int(given["dim"]))
    if name.startswith("_scaled_dot_product") and "backward" not in name:
        return _fused(given)
    padding = given.get("key_padding_mask", given.get("mask"))
    if name in ("_masked_softmax", "_native_multi_head_attention", "_transformer_encoder_layer_fwd"):
        is_mask = isinstance(padding, torch.Tensor) and padding.dtype is torch.bool
        return rows_of(padding, -1) | {"fused": name} if is_mask and padding is not None else {}
    return {}


def rows_of(hidden: torch.Tensor, dim: int) -> dict[str, Any]:
    """The rows along ``dim`` of which every element is hidden; empty where there is none."""
    if not hidden.dim() or not hidden.shape[dim]:
        return {}
    whole = hidden.all(dim)
    count = int(whole.sum())
    if not count:
        return {}
    first = torch.nonzero(whole)[:SHOWN].tolist() if whole.dim() else []
    negative = dim if dim < 0 else dim - hidden.dim()
    return {"rows": count, "of": whole.numel(), "first": first, "dim": negative, "length": hidden.shape[dim]}


def _fused(given: dict[str, Any]) -> dict[str, Any]:
    """The scores that a fused attention never shows, computed again from its inputs."""
    query, key, mask = given["query"].detach(), given["key"].detach(), given.get("attn_mask")
    mask = given.get("attn_bias") if mask is None else mask
    scale = given.get("scale") or 1 / math.sqrt(query.shape[-1])
    scores = query.float() @ key.float().transpose(-2, -1) * scale
    if given.get("is_causal"):
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(hidden, float("-inf"))
    if isinstance(mask, torch.Tensor):
        scores = scores.masked_fill(~mask, float("-inf")) if mask.dtype is torch.bool else scores + mask
    found = rows_of(scores == float("-inf"), -1)
    return found | {"fused": "scaled_dot_product_attention"} if found else {}
