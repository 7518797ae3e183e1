"""What is answered where the program asks tensors without data for a value: 1, True, or half of the elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily

if TYPE_CHECKING:
    from firstcause.check.dry.child.fake import Mode

aten = torch.ops.aten


def stand_in(dtype: torch.dtype) -> Any:
    return True if dtype == torch.bool else 1.0 if dtype.is_floating_point or dtype.is_complex else 1


def _scalar(mode: Mode, tensor: Any) -> Any:
    constant = getattr(tensor, "constant", None)
    if constant is not None:
        with unset_fake_temporarily():
            return constant.item()
    if not mode.quiet:
        mode.session.made_up()
        # A number of things, and so the size of what is made with it.
        mode.session.made_up_sizes |= not (tensor.dtype.is_floating_point or tensor.dtype == torch.bool)
    return getattr(tensor, "hint", stand_in(tensor.dtype))


def _alike(mode: Mode, *tensors: Any, **options: Any) -> bool:
    mode.session.made_up()
    return True


def kept(mode: Mode, mask: Any) -> int:
    """How many elements a mask keeps: half of them, where its values are not known."""
    constant = getattr(mask, "constant", None)
    if constant is not None:
        with unset_fake_temporarily():
            return int(constant.count_nonzero())
    return _half(mode, mask)


def _nonzero(mode: Mode, tensor: Any) -> Any:
    return torch.zeros((kept(mode, tensor), tensor.dim()), dtype=torch.int64, device=tensor.device)


def _masked_select(mode: Mode, tensor: Any, mask: Any) -> Any:
    return tensor.new_empty((kept(mode, mask),))


def _half(mode: Mode, tensor: Any) -> int:
    mode.session.made_up_sizes = True
    return max(1, int(tensor.numel()) // 2)


def _unique(mode: Mode, tensor: Any, *rest: Any, **named: Any) -> Any:
    found = tensor.new_empty((_half(mode, tensor),))
    counts = torch.zeros(found.shape, dtype=torch.int64, device=tensor.device)
    return found, torch.zeros(tensor.shape, dtype=torch.int64, device=tensor.device), counts


def _bincount(mode: Mode, tensor: Any, weights: Any = None, minlength: int = 0) -> Any:
    mode.session.made_up_sizes = True
    dtype = torch.int64 if weights is None else weights.dtype
    return torch.zeros((max(minlength, 2),), dtype=dtype, device=tensor.device)


ANSWERS = {
    aten._local_scalar_dense.default: _scalar,
    aten.nonzero.default: _nonzero,
    aten.masked_select.default: _masked_select,
    aten.equal.default: _alike,
    aten.allclose.default: _alike,
    aten._unique2.default: _unique,
    aten.unique_consecutive.default: _unique,
    aten.bincount.default: _bincount,
}
