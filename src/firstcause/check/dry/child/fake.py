"""Tensors without data, and what is answered where the program asks for a value all the same.

Whole numbers that are made of nothing keep their values; what else is asked for is made up (``answers``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, unset_fake_temporarily
from torch.utils._pytree import tree_any, tree_leaves, tree_map_only

from firstcause.check.dry.child import answers, held, moved, rebuilt, recurrent, sparse, threads
from firstcause.check.dry.child.names import NAME

if TYPE_CHECKING:
    from firstcause.check.dry.child.session import Session

aten = torch.ops.aten
ANSWERS = answers.ANSWERS | recurrent.ANSWERS
BAD_VALUES = (aten.isnan.default, aten.isinf.default)
GOOD_VALUES = (aten.isfinite.default,)
CARRIED = (aten.any.default, aten.any.dim, aten.logical_or.default, aten.bitwise_or.Tensor, aten.all.default)
# Operators that make numbers of nothing, and up to how many of them are kept.
WITHOUT_DATA = frozenset(
    getattr(getattr(aten, name), kind)
    for name, kinds in (
        ("randperm", ("default", "generator")),
        ("randint", ("default", "generator", "low", "low_generator")),
        ("arange", ("default", "start", "start_step")),
        ("full", ("default",)),
    )
    for kind in kinds
)
UNSET = (
    aten.new_empty.default,
    aten.new_empty_strided.default,
    aten.empty_like.default,
    aten.empty.memory_format,
    aten.empty_strided.default,
)
MOST_KEPT = 1 << 16
# As many other numbers as somebody writes down: means, weights of classes.
FEW = 64
# Operators that take no two types, and whose answer without data does not ask.
OF_ONE_DTYPE = frozenset(
    getattr(aten, name).default
    for name in ("mm", "addmm", "bmm", "baddbmm", "mv", "addmv", "dot", "linear", "convolution")
)
# Larger ones are not made for a second opinion.
MOST_ELEMENTS = 20_000_000


class NotReal(Exception):
    """An operator fails on tensors without data and works on real ones: the emulation ends here, not the program."""


class Mode(FakeTensorMode):
    """Fake tensors that answer, and whose errors are asked again of real tensors of the same kind."""

    # What torch keeps with the mode of how deep it is in it.
    enter_stack = threads.OfThread(list)
    in_kernel_invocation = threads.OfThread(bool)

    def __init__(self, session: Session) -> None:
        super().__init__(allow_non_fake_inputs=True)
        self.session = session
        # Told by whoever runs an optimizer's step or backward.
        self.quiet = 0
        self.in_backward = False
        rebuilt.install(self)

    @property
    def avoid_device_init(self) -> bool:
        """Always: what torch takes for an accelerator is none, and a constant cannot be copied there for real."""
        return True

    def dispatch(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # What torch asks of its own tensors in here is nobody else's business, and there are dozens of such questions.
        with torch._C.DisableTorchFunction():
            out = self._dispatch(func, types, args, kwargs or {})
        held.see(out)
        moved.see(func, args, out)
        sparse.see(out)
        return out

    def _dispatch(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        answer: Any = ANSWERS.get(func)
        if answer is not None:
            known = self._of_constants(func, args, kwargs)
            return answer(self, *args, **kwargs) if known is None else known
        if func in (aten.index.Tensor, aten.index_put_.default, aten.index_put.default):
            args = self._without_masks(func, args)
        if not self.quiet and func._schema.is_mutable and isinstance(args[0], (torch.Tensor, list)):
            changed = args[0] if isinstance(args[0], list) else [args[0]]
            self.session.changes |= dict.fromkeys((tuple(t.shape) for t in changed), self.session.place())
            self.session.emit("changed", changed, func.__name__)
        if func in WITHOUT_DATA and not tree_any(_is_tensor, (args, kwargs)) and _on_processor(kwargs):
            known = self._known(func, args, kwargs)
            if known is not None:
                return known
        of_sparse = sparse.computed(self, func, args, kwargs)
        if of_sparse is not None:
            return of_sparse
        numbers = moved.known(func, args, kwargs)
        if numbers is not None:
            return self.fake_tensor_converter.from_real_tensor(self, numbers, make_constant=True)
        if func in OF_ONE_DTYPE and not self.in_backward:
            self._compare_dtypes(func, args, kwargs)
        try:
            with _without_constants(args, kwargs), sparse.on_processor(func, args, kwargs) as given:
                out = given(super().dispatch(func, types, args, kwargs))
        except (RuntimeError, IndexError, ValueError, TypeError, AssertionError) as error:
            if not self._fails_for_real(func, args, kwargs, error):
                raise NotReal(f"{func} has no answer without data: {error}") from error
            raise
        if func in UNSET:
            # Made of numbers that are known, it is computed for real, of whatever lies in memory.
            out.constant = None
        elif func in BAD_VALUES:
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

    def may_turn_const(self, t: Any) -> bool:
        """Whether a tensor's values are kept: whole numbers are counts and positions, and say which samples are read."""
        whole = not (t.dtype.is_floating_point or t.dtype.is_complex)
        if t.numel() > (MOST_KEPT if whole else FEW):
            return False
        return not self.is_our_fake(t) and t.layout == torch.strided and t.device.type == "cpu"

    def _known(self, func: Any, args: Any, kwargs: Any) -> Any:
        """What an operator gives for real, with its values; None where there are too many."""
        with unset_fake_temporarily():
            real = func(*args, **kwargs)
        if not all(self.may_turn_const(t) for t in tree_leaves(real) if isinstance(t, torch.Tensor)):
            return None
        keep = self.fake_tensor_converter.from_real_tensor
        return tree_map_only(torch.Tensor, lambda t: keep(self, t, make_constant=True), real)

    def _of_constants(self, func: Any, args: Any, kwargs: Any) -> Any:
        """What an operator gives whose tensors' values are all kept; None where they are not."""
        tensors = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
        if any(getattr(t, "constant", None) is None for t in tensors):
            return None
        return self._known(func, *tree_map_only(torch.Tensor, lambda t: t.constant, (args, kwargs)))

    def _compare_dtypes(self, func: Any, args: Any, kwargs: Any) -> None:
        """Raise what the real operator says to two types; tensors without data are multiplied all the same."""
        given = [t for t in tree_leaves(args) if isinstance(t, torch.Tensor) and t.dim()]
        if len({t.dtype for t in given}) > 1:
            # No more than the types are asked about, and a few elements say the same.
            with unset_fake_temporarily(), torch.no_grad():
                for one, other in pairwise(given):
                    torch.mm(torch.zeros(1, 1, dtype=one.dtype), torch.zeros(1, 1, dtype=other.dtype))

    def _without_masks(self, func: Any, args: Any) -> Any:
        indices: list[Any] = []
        for index in args[1]:
            if isinstance(index, torch.Tensor) and index.dtype in (torch.bool, torch.uint8):
                with self:
                    indices += index.nonzero().unbind(1) or [None]
            else:
                indices.append(index)
        return (args[0], indices, *args[2:])

    def _fails_for_real(self, func: Any, args: Any, kwargs: Any, error: Exception) -> bool:
        tensors = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
        if len({t.device.type for t in tensors if t.dim()}) > 1:
            return "device" in str(error).lower()
        if type(error).__module__.startswith("torch") or any(t.layout != torch.strided for t in tensors):
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


@contextmanager
def _without_constants(args: Any, kwargs: Any) -> Iterator[None]:
    """Values are not computed on the emulated device, which torch would ask for them of what is constant."""
    named = (a for a in (*args, *kwargs.values()) if isinstance(a, torch.device))
    if not any(device.type == NAME for device in named):
        yield
        return
    known = [(t, t.constant) for t in tree_leaves((args, kwargs)) if isinstance(t, FakeTensor)]
    for tensor, _ in known:
        tensor.constant = None
    try:
        yield
    finally:
        for tensor, constant in known:
            tensor.constant = constant


def _is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def _on_processor(kwargs: Any) -> bool:
    return kwargs.get("device") is None or kwargs["device"].type == "cpu"


def _real(tensor: Any) -> Any:
    return torch.zeros(tuple(tensor.shape), dtype=tensor.dtype, device="cpu")
