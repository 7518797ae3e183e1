"""Autocast on the emulated device: which functions compute in the lower precision, and which in float32.

After the lists of aten/src/ATen/autocast_mode.h.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

import torch
from torch.utils import checkpoint

from firstcause.check.dry.child.names import NAME

LOWER = frozenset(
    (  # noqa: SIM905
        "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution prelu linear "
        "matmul __matmul__ __rmatmul__ bmm mm mv addmm addmv addr addbmm baddbmm chain_matmul einsum "
        "bilinear scaled_dot_product_attention multi_head_attention_forward lstm gru rnn_tanh"
    ).split()
)
FULL = frozenset(
    (  # noqa: SIM905
        "acos asin cosh exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow __pow__ softplus "
        "layer_norm group_norm norm nuclear_norm cosine_similarity poisson_nll_loss cosine_embedding_loss "
        "nll_loss hinge_embedding_loss kl_div l1_loss smooth_l1_loss huber_loss mse_loss "
        "margin_ranking_loss soft_margin_loss triplet_margin_loss binary_cross_entropy_with_logits dist "
        "pdist cdist renorm logsumexp cross_entropy softmax log_softmax sum prod cumsum cumprod"
    ).split()
)
WIDEST = frozenset(
    ("addcdiv addcmul atan2 bilinear cross dot grid_sample index_put tensordot scatter_add cat stack").split()  # noqa: SIM905
)

active: list[torch.dtype | None] = []
# Precisions in which a forward was computed since an optimizer last stepped.
used: set[torch.dtype] = set()
# Where the program enters autocast, and for what precision.
entered: dict[tuple[str, int], torch.dtype] = {}


class Autocast:
    """In the place of ``torch.autocast``; that of the processor is torch's own."""

    def __init__(
        self, device_type: str = "cuda", dtype: torch.dtype | None = None, enabled: bool = True, **more: Any
    ) -> None:
        self.own = (
            torch.amp.autocast_mode.autocast(device_type, dtype, enabled) if device_type == "cpu" else None
        )
        self.device, self.fast_dtype, self._enabled = device_type, dtype or torch.float16, enabled

    def __enter__(self) -> Autocast:
        if self.own is not None:
            self.own.__enter__()
        else:
            active.append(self.fast_dtype if self._enabled else None)
            frame = sys._getframe(1)
            entered[frame.f_code.co_filename, frame.f_lineno] = self.fast_dtype
        return self

    def __exit__(self, *error: Any) -> None:
        if self.own is not None:
            self.own.__exit__(*error)
        else:
            active.pop()

    def __call__(self, function: Any) -> Any:
        @functools.wraps(function)
        def within(*args: Any, **kwargs: Any) -> Any:
            with Autocast(self.device, self.fast_dtype, self._enabled):
                return function(*args, **kwargs)

        return within


def cast(name: str, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The arguments of a function as the active autocast hands them on."""
    lower = active[-1] if active else None
    if lower is None:
        return args, kwargs
    if name in LOWER:
        if torch.is_grad_enabled():
            used.add(lower)
        return _with(args, lower), {k: _to(v, lower) for k, v in kwargs.items()}
    if name in FULL:
        return _with(args, torch.float32), {k: _to(v, torch.float32) for k, v in kwargs.items()}
    if name in WIDEST:
        flat = [t for a in args for t in (a if isinstance(a, (list, tuple)) else [a])]
        if any(isinstance(t, torch.Tensor) and t.dtype == torch.float32 for t in flat):
            return _with(args, torch.float32), kwargs
    return args, kwargs


def _with(args: Any, dtype: torch.dtype) -> Any:
    return tuple(
        type(a)(_to(x, dtype) for x in a) if type(a) in (list, tuple) else _to(a, dtype) for a in args
    )


def _to(value: Any, dtype: torch.dtype) -> Any:
    if (
        not isinstance(value, torch.Tensor)
        or not value.dtype.is_floating_point
        or value.dtype == torch.float64
    ):
        return value
    if value.device.type != NAME or value.dtype == dtype:
        return value
    cast = value.to(dtype)
    for mark in ("fc_tag", "fc_by", "fc_at", "fc_cut"):
        if hasattr(value, mark):
            setattr(cast, mark, getattr(value, mark))
    return cast


def install() -> None:
    """Let what a checkpoint computes again be cast as it was the first time."""
    original = checkpoint.checkpoint

    @functools.wraps(original)
    def checkpointed(function: Any, *args: Any, **kwargs: Any) -> Any:
        state = active[-1] if active else None

        def within(*inputs: Any, **options: Any) -> Any:
            active.append(state)
            try:
                return function(*inputs, **options)
            finally:
                active.pop()

        return original(within, *args, **kwargs)

    checkpoint.checkpoint = checkpointed
