"""The check before an optimizer's step: are the losses and gradients of this step finite."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from firstcause.record.observe.groups import Groups


@dataclass(slots=True)
class Verdict:
    """Losses and per-parameter gradient norms (float32) of one step, and which of them are not finite."""

    losses: tuple[float, ...]
    norms: tuple[float, ...]
    bad_losses: tuple[int, ...]
    bad_gradients: tuple[int, ...]

    @property
    def healthy(self) -> bool:
        return not self.bad_losses and not self.bad_gradients


def weigh(
    losses: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor], groups: Groups | None = None
) -> Verdict:
    """Few fused norms over all gradients and one transfer; a suspicion is settled on the tensor itself.

    ``groups`` is how these gradients are read together, where they are known from an earlier step.
    """
    with torch.no_grad():
        norm_values = groups.norms(gradients) if groups is not None else None
        loss_values: tuple[float, ...] = ()
        if norm_values is None:
            norm_values, loss_values = _read(losses, gradients)
        elif losses:
            # Beside gradients in the host's memory, so that there is nothing to transfer.
            loss_values = tuple([float(x if x.numel() == 1 else x.sum()) for x in losses])
        bad: tuple[int, ...] = ()
        bad_losses: tuple[int, ...] = ()
        if not math.isfinite(sum(norm_values) + sum(loss_values)):
            # A float32 norm of finite values may overflow: only isfinite decides.
            bad = tuple(
                i for i, v in enumerate(norm_values) if not math.isfinite(v) and not finite(gradients[i])
            )
            bad_losses = tuple(
                i for i, v in enumerate(loss_values) if not math.isfinite(v) and not finite(losses[i])
            )
    return Verdict(loss_values, norm_values, bad_losses, bad)


def _read(
    losses: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Norms and losses in one transfer; those of several devices by way of the host."""
    norms = _norms(gradients if all(map(_is_dense, gradients)) else [local(g) for g in gradients])
    pieces = [*norms, *(x.detach().float().sum().reshape(()) for x in losses)]
    if len({p.device for p in pieces}) > 1:
        pieces = [p.cpu() for p in pieces]
    values = torch.stack(pieces).tolist() if pieces else []
    return tuple(values[: len(norms)]), tuple(values[len(norms) :])


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


def shard(tensor: torch.Tensor) -> torch.Tensor:
    """What this process holds of a DTensor, whose own ops may wait for other ranks; any other tensor as it is."""
    held: torch.Tensor | None = getattr(tensor, "_local_tensor", None)
    return tensor if held is None else held


def local(tensor: torch.Tensor) -> torch.Tensor:
    """The dense part that this process holds: the values of a sparse tensor, the shard of a DTensor."""
    tensor = shard(tensor)
    if tensor.layout is torch.sparse_coo:
        return tensor._values()
    return tensor.detach()


def finite(tensor: torch.Tensor) -> bool:
    return bool(torch.isfinite(local(tensor)).all())
