"""The inputs of a step or call in figures: shape, dtype, range, and how many values are not finite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch

from firstcause.record.observe.kept import tensors_in

MOST = 32


def ranges(
    named: Iterable[tuple[str, Any]], instead: Mapping[int, torch.Tensor] | None = None
) -> list[dict[str, Any]]:
    """Figures of the tensors under each name; ``instead`` gives what may be read in place of a tensor, by its id."""
    return list(_ranges(named, instead))[:MOST]


def _ranges(
    named: Iterable[tuple[str, Any]], instead: Mapping[int, torch.Tensor] | None
) -> Iterator[dict[str, Any]]:
    for name, value in named:
        for tensor in tensors_in(value):
            facts: dict[str, Any] = {
                "name": name,
                "shape": list(tensor.shape),
                "dtype": str(tensor.dtype)[6:],
            }
            known = tensor if instead is None else instead.get(id(tensor))
            yield facts | (_range(known.detach()) if known is not None else {})


def _range(tensor: torch.Tensor) -> dict[str, Any]:
    plain = tensor.layout is torch.strided and tensor.numel() and tensor.device.type != "meta"
    if not plain or tensor.dtype is torch.bool or tensor.is_complex():
        return {}
    if not tensor.is_floating_point():
        return {"min": int(tensor.min()), "max": int(tensor.max())}
    finite = torch.isfinite(tensor)
    bad = tensor.numel() - int(finite.sum())
    facts: dict[str, Any] = {"not_finite": bad} if bad else {}
    if bad < tensor.numel():
        values = tensor[finite].float()
        facts |= {"min": float(values.min()), "max": float(values.max())}
    return facts
