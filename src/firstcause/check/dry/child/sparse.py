"""Sparse tensors on the device: brought there by their parts, and computed with as on the processor.

torch has kernels without data for few of their operators, and calls the processor's for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._pytree import tree_leaves

from firstcause.check.dry.child.names import NAME

if TYPE_CHECKING:
    from firstcause.check.dry.child.fake import Mode

aten = torch.ops.aten
ROWS = (torch.sparse_csr, torch.sparse_bsr)
COMPRESSED = (*ROWS, torch.sparse_csc, torch.sparse_bsc)
# Their result is dense, and of the size that a product of dense ones has.
PRODUCTS = {
    aten._sparse_addmm.default: aten.addmm.default,
    **{op: op for op in (aten.mm.default, aten.addmm.default, aten.mv.default, aten.bmm.default)},
}
MAKERS = frozenset(
    getattr(getattr(aten, name), kind)
    for name, kinds in (
        ("_to_sparse", ("default", "sparse_dim")),
        ("_to_sparse_csr", ("default",)),
        ("_to_sparse_csc", ("default",)),
    )
    for kind in kinds
)
_met = False


def see(out: Any) -> None:
    """What an operator has given: most programs never meet a sparse tensor, and are not asked for one again and again."""
    global _met
    _met = _met or (type(out) is FakeTensor and out.layout != torch.strided)


@contextmanager
def on_processor(func: Any, args: Any, kwargs: Any) -> Iterator[Callable[[Any], Any]]:
    """Within it the tensors of an operator with a sparse one are the processor's; what it gives is brought back."""
    makes = func in MAKERS
    tensors = [t for t in tree_leaves((args, kwargs)) if isinstance(t, FakeTensor)] if _met or makes else []
    is_met = makes or any(t.layout != torch.strided for t in tensors)
    if not is_met or {t.fake_device.type for t in tensors} != {NAME}:
        yield _as_it_is
        return
    device = tensors[0].fake_device
    known = [(t, t.constant) for t in tensors]

    def back(out: Any) -> Any:
        for tensor in tree_leaves(out):
            if isinstance(tensor, FakeTensor):
                tensor.fake_device = device
        return out

    for tensor in tensors:
        tensor.fake_device, tensor.constant = torch.device("cpu"), None
    try:
        yield back
    finally:
        for tensor, constant in known:
            tensor.fake_device, tensor.constant = device, constant


def _as_it_is(out: Any) -> Any:
    return out


def computed(mode: Mode, func: Any, args: Any, kwargs: Any) -> Any:
    """A copy of a sparse tensor, or what is dense and made of one; None for any other call."""
    if not _met or not any(_is_sparse(a) for a in args):
        return None
    if func in (aten._to_copy.default, aten._coalesce.default):
        return _copied(mode, args[0], kwargs, func is aten._coalesce.default)
    if func is aten._to_dense.default:
        with mode:
            return _dense(args[0])
    if func not in PRODUCTS or all(_is_sparse(a) for a in args):
        return None
    with mode:
        return PRODUCTS[func](*(_dense(a) if _is_sparse(a) else a for a in args), **kwargs)


def _is_sparse(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.layout in (torch.sparse_coo, *COMPRESSED)


def _dense(tensor: Any) -> Any:
    return torch.empty(tuple(tensor.shape), dtype=tensor.dtype, device=tensor.device)


def _copied(mode: Mode, tensor: Any, kwargs: Any, coalesced: bool) -> Any:
    device, dtype = kwargs.get("device") or tensor.device, kwargs.get("dtype") or tensor.dtype
    with mode:
        values = aten._values(tensor) if tensor.layout == torch.sparse_coo else tensor.values()
        values = values.to(device, dtype)
        if tensor.layout == torch.sparse_coo:
            indices = aten._indices(tensor).to(device)
            return aten._sparse_coo_tensor_with_dims_and_tensors(
                tensor.sparse_dim(),
                tensor.dense_dim(),
                tensor.shape,
                indices,
                values,
                layout=torch.sparse_coo,
                device=device,
                is_coalesced=coalesced or tensor.is_coalesced(),
            )
        if tensor.layout in ROWS:
            along, across = tensor.crow_indices(), tensor.col_indices()
        else:
            along, across = tensor.ccol_indices(), tensor.row_indices()
        return torch.sparse_compressed_tensor(
            along.to(device),
            across.to(device),
            values,
            tensor.shape,
            layout=tensor.layout,
            check_invariants=False,
        )
