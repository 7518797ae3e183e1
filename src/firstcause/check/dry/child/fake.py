"""Tensors without data, and what is answered where the program asks for a value all the same.

Zeros of ``isnan`` are false, everything else that is asked for is 1, True, or half of the elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, unset_fake_temporarily
from torch.utils._pytree import tree_leaves, tree_map_only

from firstcause.check.dry.child import clock

if TYPE_CHECKING:
    from firstcause.check.dry.child.session import Session

aten = torch.ops.aten
BAD_VALUES = (aten.isnan.default, aten.isinf.default)
GOOD_VALUES = (aten.isfinite.default,)
CARRIED = (aten.any.default, aten.any.dim, aten.logical_or.default, aten.bitwise_or.Tensor, aten.all.default)
# Larger ones are not made for a second opinion.
MOST_ELEMENTS = 20_000_000


class NotReal(Exception):
    """An operator fails on tensors without data and works on real ones: the emulation ends here, not the program."""


class Mode(FakeTensorMode):
    """Fake tensors that answer, and whose errors are asked again of real tensors of the same kind."""

    def __init__(self, session: Session) -> None:
        super().__init__(allow_non_fake_inputs=True)
        self.session = session
        # Told by whoever runs an optimizer's step or backward.
        self.quiet = 0
        self.in_backward = False

    def dispatch(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        clock.look()
        kwargs = kwargs or {}
        answer: Any = ANSWERS.get(func)
        if answer is not None:
            return answer(self, *args, **kwargs)
        if func is aten._to_copy.default and isinstance(args[0], FakeTensor):
            # Constants are copied for real, which the emulated device cannot do.
            args[0].constant = None
        if func in (aten.index.Tensor, aten.index_put_.default, aten.index_put.default):
            args = self._without_masks(func, args)
        if not self.quiet and func._schema.is_mutable and isinstance(args[0], (torch.Tensor, list)):
            self.session.emit("changed", args[0] if isinstance(args[0], list) else [args[0]], func.__name__)
        try:
            out = super().dispatch(func, types, args, kwargs)
        except (RuntimeError, IndexError, ValueError, TypeError, AssertionError) as error:
            if not self._fails_for_real(func, args, kwargs, error):
                raise NotReal(f"{func} has no answer without data: {error}") from error
            raise
        if func in BAD_VALUES:
            out.hint = False
        elif func in GOOD_VALUES:
            out.hint = True
        elif func in CARRIED:
            known = [a.hint for a in args if isinstance(a, FakeTensor) and hasattr(a, "hint")]
            if known:
                out.hint = known[0]
        elif func in (aten.logical_not.default, aten.bitwise_not.default) and hasattr(args[0], "hint"):
            out.hint = not args[0].hint
        return out

    def _without_masks(self, func: Any, args: Any) -> Any:
        indices = []
        for index in args[1]:
            if isinstance(index, torch.Tensor) and index.dtype in (torch.bool, torch.uint8):
                self.session.made_up_sizes = True
                kept = max(1, index.numel() // 2)
                many = [
                    torch.zeros(kept, dtype=torch.long, device=args[0].device) for _ in range(index.dim())
                ]
                indices += many or [None]
            else:
                indices.append(index)
        return (args[0], indices, *args[2:])

    def _fails_for_real(self, func: Any, args: Any, kwargs: Any, error: Exception) -> bool:
        tensors = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
        if len({t.device.type for t in tensors if t.dim()}) > 1:
            return "device" in str(error).lower()
        if type(error).__module__.startswith("torch"):
            # No kernel for tensors without data, or a value that they do not have.
            return False
        if sum(t.numel() for t in tensors) > MOST_ELEMENTS:
            return False
        with unset_fake_temporarily(), torch.no_grad():
            given, named = tree_map_only(torch.Tensor, _real, (args, kwargs))
            if "device" in named:
                named["device"] = torch.device("cpu")
            try:
                func(*given, **named)
            except Exception:  # noqa: BLE001 - whatever it is, it fails
                return True
        return False


def _real(tensor: Any) -> Any:
    return torch.zeros(tuple(tensor.shape), dtype=tensor.dtype, device="cpu")


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


def _half(mode: Mode, tensor: Any) -> int:
    mode.session.made_up_sizes = True
    return max(1, int(tensor.numel()) // 2)


def _nonzero(mode: Mode, tensor: Any) -> Any:
    return torch.zeros((_half(mode, tensor), tensor.dim()), dtype=torch.int64, device=tensor.device)


def _masked_select(mode: Mode, tensor: Any, mask: Any) -> Any:
    return tensor.new_empty((_half(mode, tensor),))


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
