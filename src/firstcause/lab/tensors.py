"""Tensors in figures: shape, dtype, range, and how many of their values are not finite or zero."""

from __future__ import annotations

from typing import Any

import torch

FINITE, INF, NAN = 0, 1, 2
SHOWN = 8


def badness(value: Any) -> int:
    """0 finite, 1 with an infinity, 2 with a NaN; anything but a floating tensor counts as finite."""
    if not isinstance(value, torch.Tensor) or not (value.is_floating_point() or value.is_complex()):
        return FINITE
    if value.numel() == 0 or value.layout is not torch.strided or value.device.type == "meta":
        return FINITE
    plain = value.detach()
    if bool(torch.isfinite(plain).all()):
        return FINITE
    return NAN if bool(torch.isnan(plain).any()) else INF


def figures(value: Any) -> Any:
    """A tensor as plain figures; a scalar as itself."""
    if not isinstance(value, torch.Tensor):
        return value if isinstance(value, (int, float, bool, str, type(None))) else repr(value)[:80]
    facts: dict[str, Any] = {
        "shape": list(value.shape),
        "dtype": str(value.dtype)[6:],
        "device": str(value.device),
    }
    if (
        value.layout is not torch.strided
        or value.numel() == 0
        or value.device.type == "meta"
        or value.is_complex()
    ):
        return facts
    plain = value.detach()
    if plain.dtype is torch.bool:
        return facts | {"true": int(plain.sum())}
    if plain.is_floating_point():
        finite = torch.isfinite(plain)
        facts |= {
            "nan": int(torch.isnan(plain).sum()),
            "inf": int((plain == float("inf")).sum()),
            "-inf": int((plain == float("-inf")).sum()),
            "zeros": int((plain == 0).sum()),
        }
        if not bool(finite.any()):
            return facts
        plain = plain[finite].double()
        return facts | {
            "min": float(plain.min()),
            "max": float(plain.max()),
            "abs_min": float(plain.abs().min()),
        }
    return facts | {"min": int(plain.min()), "max": int(plain.max())}


def is_bad(value: torch.Tensor) -> torch.Tensor:
    """Where a value is NaN; where it is not finite, if there is no NaN: what an op made worse, and not what it passed on."""
    missing = torch.isnan(value.detach())
    return missing if bool(missing.any()) else ~torch.isfinite(value.detach())


def first_bad(value: torch.Tensor) -> list[int]:
    """The index of the first bad value."""
    flat = torch.nonzero(is_bad(value).reshape(-1))
    return list(_unravel(int(flat[0]), value.shape)) if len(flat) else []


def bad_rows(value: torch.Tensor) -> tuple[int, list[int]]:
    """How many rows (first axis) hold a bad value, and the first few of them."""
    bad = is_bad(value)
    rows = (
        torch.nonzero(bad.reshape(len(bad), -1).any(1) if bad.dim() > 1 else bad).reshape(-1)
        if bad.dim()
        else bad.reshape(1)
    )
    return len(rows), [int(r) for r in rows[:SHOWN]]


def whole_columns(value: torch.Tensor) -> bool:
    """Whether what is bad fills whole columns (last axis) of a table, in every row."""
    bad = is_bad(value)
    if bad.dim() < 2 or len(bad) < 2:
        return False
    columns = bad.reshape(-1, bad.shape[-1])
    return bool((columns.any(0) == columns.all(0)).all())


def at(value: Any, index: list[int], shape: torch.Size) -> float | None:
    """The element of an operand that met the element at ``index`` of a result of ``shape``."""
    if isinstance(value, (int, float)):
        return float(value)
    if not isinstance(value, torch.Tensor) or value.is_complex():
        return None
    try:
        return float(value.detach().expand(shape)[tuple(index)])
    except (RuntimeError, IndexError):
        return None


def _unravel(flat: int, shape: torch.Size) -> tuple[int, ...]:
    index = []
    for size in reversed(shape):
        index.append(flat % size)
        flat //= size
    return tuple(reversed(index))
