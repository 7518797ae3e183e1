"""The rows of the batch in which a bad value first showed, beside what the other rows of the batch hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import FrameType
from typing import Any

import torch

from firstcause.record.observe.kept import tensors_in

MOST_ROWS, MOST_INPUTS, MOST_VALUES, MOST_NAMES = 3, 8, 8, 200


def batch_rows(birth: Mapping[str, Any], frames: Iterable[FrameType]) -> list[dict[str, Any]]:
    """For each input with as many rows as a bad result: its bad rows, and the range of the others.

    Inputs are what the program's ``frames`` name (innermost first) and nothing has computed with a gradient. Empty where
    the result is bad in all of its rows, or is no row of a batch.
    """
    shape = (birth.get("output") or {}).get("shape") or []
    rows = list(birth.get("first_rows") or ())[:MOST_ROWS]
    if not rows or not shape or birth["rows"] >= shape[0]:
        return []
    named = [pair for frame in list(frames)[::-1] for pair in list(frame.f_locals.items())[:MOST_NAMES]]
    found: dict[int, dict[str, Any]] = {}
    for name, value in named:
        for tensor in tensors_in(value):
            plain = tensor.layout is torch.strided and tensor.dim() > 0 and not tensor.is_complex()
            if plain and len(tensor) == shape[0] and not tensor.requires_grad and len(found) < MOST_INPUTS:
                found.setdefault(id(tensor), {"name": name} | _facts(tensor, rows))
    return list(found.values())


def _facts(tensor: torch.Tensor, rows: Sequence[int]) -> dict[str, Any]:
    others = torch.ones(len(tensor), dtype=torch.bool, device=tensor.device)
    others[list(rows)] = False
    facts: dict[str, Any] = {
        "shape": list(tensor.shape),
        "dtype": str(tensor.dtype)[6:],
        "bad": [{"row": row} | _range(tensor[row]) | {"values": _values(tensor[row])} for row in rows],
    }
    return facts | {"others": _range(tensor[others])}


def _range(values: torch.Tensor) -> dict[str, Any]:
    plain = values.detach().double()
    finite = plain[torch.isfinite(plain)]
    lost = plain.numel() - finite.numel()
    facts: dict[str, Any] = {"not_finite": lost} if lost else {}
    return facts | ({"min": float(finite.min()), "max": float(finite.max())} if finite.numel() else {})


def _values(row: torch.Tensor) -> list[float | str]:
    """The first values as JSON holds them."""
    plain = row.detach().reshape(-1)[:MOST_VALUES].double().tolist()
    return [value if abs(value) < float("inf") else str(value) for value in plain]
