"""The check before an optimizer's step: are the losses and gradients of this step finite."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Verdict:
    """Losses and per-parameter gradient norms (float32) of one step, and which of them are not finite."""

    losses: tuple[float, ...]
    norms: tuple[float, ...]
    bad_losses: tuple[int, ...]
    bad_gradients: tuple[int, ...]

    @property
    def healthy(self) -> bool:
        return not self.bad_losses and not self.bad_gradients


def weigh(losses: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor]) -> Verdict:
    """One fused norm over all gradients and one transfer; a suspicion is settled on the tensor itself."""
    with torch.no_grad():
        plain = gradients if all(map(_is_dense, gradients)) else [local(g) for g in gradients]
        norms = _norms(plain)
        scalars = [x.detach().float().sum().reshape(()) for x in losses]
        values = torch.stack([*norms, *scalars]).tolist() if norms or scalars else []
        norm_values, loss_values = values[: len(norms)], values[len(norms) :]
        # A float32 norm of finite values may overflow: only isfinite decides.
        bad = tuple(i for i, v in enumerate(norm_values) if not math.isfinite(v) and not finite(plain[i]))
        bad_losses = tuple(
            i for i, v in enumerate(loss_values) if not math.isfinite(v) and not finite(losses[i])
        )
    return Verdict(tuple(loss_values), tuple(norm_values), bad_losses, bad)


def _norms(gradients: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    if not gradients:
        return []
    dtypes = {g.dtype for g in gradients}
    if any(d.is_complex for d in dtypes):
        gradients = [torch.view_as_real(g) if g.is_complex() else g for g in gradients]
        dtypes = {g.dtype for g in gradients}
    if len(dtypes) > 1 or len({g.device for g in gradients}) > 1:
        return [_wide(g, torch.linalg.vector_norm(g, dtype=_accumulated(g.dtype))) for g in gradients]
    # float64 is not narrowed before it is summed, half precision is widened.
    norms = torch._foreach_norm(list(gradients), 2, dtype=_accumulated(gradients[0].dtype))
    return list(norms) if gradients[0].dtype is not torch.float64 else [n.float() for n in norms]


def _accumulated(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype is torch.float64 else torch.float32


def _wide(gradient: torch.Tensor, norm: torch.Tensor) -> torch.Tensor:
    return norm.float() if gradient.device.type == "cpu" else norm.float().cpu()


def _is_dense(tensor: torch.Tensor) -> bool:
    """Whether a tensor is what it seems: most are, and a step has thousands of them."""
    return type(tensor) is torch.Tensor and tensor.layout is torch.strided


def local(tensor: torch.Tensor) -> torch.Tensor:
    """The dense part that this process holds: the values of a sparse tensor, the shard of a DTensor."""
    shard = getattr(tensor, "_local_tensor", None)
    if shard is not None:
        tensor = shard
    if tensor.layout is torch.sparse_coo:
        return tensor._values()
    return tensor.detach()


def finite(tensor: torch.Tensor) -> bool:
    return bool(torch.isfinite(local(tensor)).all())
