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
    if not mode.quiet:
        mode.session.made_up()
        # A number of things, and so the size of what is made with it.
        mode.session.made_up_sizes |= not (tensor.dtype.is_floating_point or tensor.dtype == torch.bool)
    return getattr(tensor, "hint", stand_in(tensor.dtype))


def _alike(mode: Mode, *tensors: Any, **options: Any) -> bool:
    mode.session.made_up()
    return True


def _kept(mode: Mode, mask: Any) -> int:
    """How many elements a mask keeps: half of them, where its values are not known."""
    constant = getattr(mask, "constant", None)
    if constant is not None:
        with unset_fake_temporarily():
            return int(constant.count_nonzero())
    return _half(mode, mask)


def _nonzero(mode: Mode, tensor: Any) -> Any:
    return _whole(mode, tensor, _kept(mode, tensor), tensor.dim())


def _whole(mode: Mode, tensor: Any, *shape: int, dtype: torch.dtype = torch.int64) -> Any:
    """New numbers beside a tensor; no mode is on in here, and torch would look for a real device of the name."""
    with mode:
        return torch.zeros(shape, dtype=dtype, device=tensor.device)


def _masked_select(mode: Mode, tensor: Any, mask: Any) -> Any:
    return tensor.new_empty((_kept(mode, mask),))


def _half(mode: Mode, tensor: Any) -> int:
    mode.session.made_up_sizes = True
    return max(1, int(tensor.numel()) // 2)


def _unique(mode: Mode, tensor: Any, *rest: Any, **named: Any) -> Any:
    found = tensor.new_empty((_half(mode, tensor),))
    return found, _whole(mode, tensor, *tensor.shape), _whole(mode, tensor, *found.shape)


def _unique_dim(mode: Mode, tensor: Any, dim: int, *rest: Any, **named: Any) -> Any:
    """Which of the slices differ: half of them."""
    mode.session.made_up_sizes = True
    shape = list(tensor.shape)
    many = shape[dim]
    shape[dim] = max(1, many // 2)
    return tensor.new_empty(shape), _whole(mode, tensor, many), _whole(mode, tensor, shape[dim])


def _unique_consecutive(
    mode: Mode, tensor: Any, inverse: bool = False, counts: bool = False, dim: int | None = None, **named: Any
) -> Any:
    return _unique(mode, tensor) if dim is None else _unique_dim(mode, tensor, dim)


def _bincount(mode: Mode, tensor: Any, weights: Any = None, minlength: int = 0) -> Any:
    mode.session.made_up_sizes = True
    dtype = torch.int64 if weights is None else weights.dtype
    return _whole(mode, tensor, max(minlength, 2), dtype=dtype)


def _repeat_interleave(mode: Mode, repeats: Any, output_size: int | None = None) -> Any:
    """Each as often as any other number stands for: once, where nobody says how many there are in all."""
    if output_size is None:
        mode.session.made_up_sizes = True
        output_size = int(repeats.numel())
    return _whole(mode, repeats, output_size)


ANSWERS = {
    aten._local_scalar_dense.default: _scalar,
    aten.nonzero.default: _nonzero,
    aten.masked_select.default: _masked_select,
    aten.equal.default: _alike,
    aten.allclose.default: _alike,
    aten._unique2.default: _unique,
    aten.unique_consecutive.default: _unique_consecutive,
    aten.unique_dim.default: _unique_dim,
    aten.bincount.default: _bincount,
    aten.repeat_interleave.Tensor: _repeat_interleave,
}
