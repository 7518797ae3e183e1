"""Attention as the device's own kernel computes it: one operator, which keeps no matrix of each position with each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from firstcause.check.dry.child.names import NAME

if TYPE_CHECKING:
    from firstcause.check.dry.child.session import Session

HALF = (torch.float16, torch.bfloat16)
NAMES = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale")


def fused(session: Session, func: Any, args: Any, kwargs: Any) -> Any:
    """The output of the kernel for halves or for float32; None where a mask, or the shapes, ask for another one."""
    given = dict(zip(NAMES, args, strict=False)) | kwargs
    tensors = [given.get(name) for name in NAMES[:3]]
    if not all(isinstance(t, torch.Tensor) and t.device.type == NAME and t.dim() == 4 for t in tensors):
        return None
    query, key, value = tensors
    fits = key.shape == value.shape and query.shape[:2] == key.shape[:2] and query.shape[3] == key.shape[3]
    if not fits or given.get("attn_mask") is not None or given.get("enable_gqa"):
        return None
    options = {"scale": given.get("scale")}
    dropout, causal = given.get("dropout_p", 0.0), given.get("is_causal", False)
    if len({t.dtype for t in tensors}) == 1 and query.dtype in HALF:
        flash = torch.ops.aten._scaled_dot_product_flash_attention
        return flash(query, key, value, dropout, causal, **options)[0]
    if all(t.dtype == torch.float32 for t in tensors):
        efficient = torch.ops.aten._scaled_dot_product_efficient_attention
        kept = torch.is_grad_enabled() and any(t.requires_grad for t in tensors)
        return efficient(query, key, value, None, kept, dropout, causal, **options)[0]
    return None
