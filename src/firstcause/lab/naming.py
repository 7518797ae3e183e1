"""What the program itself calls a tensor: the variable that holds it, or the one that its rows were taken from."""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch

from firstcause.lab import places

# Variables of one frame, and elements of one tensor, that are looked through.
MOST_NAMES, MOST_ELEMENTS = 200, 4_000_000


def holder(tensor: torch.Tensor, row: int, frame: FrameType | None) -> dict[str, Any] | None:
    """Name, file and line of the outermost variable for a tensor; else of one that has its ``row`` among its rows."""
    wanted = {id(tensor)} | ({id(tensor._base)} if tensor._base is not None else set())
    frames = list(_program(frame))
    for inner in reversed(frames):
        for name, value in _variables(inner):
            if id(value) in wanted:
                return _place(name, inner)
    for inner in frames:
        for name, value in _variables(inner):
            if _has_row(value, tensor[row]):
                return _place(name, inner)
    return None


def _program(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        if places.is_user_file(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def _variables(frame: FrameType) -> list[tuple[str, Any]]:
    return list(frame.f_locals.items())[:MOST_NAMES]


def _place(name: str, frame: FrameType) -> dict[str, Any]:
    return {"name": name, "file": frame.f_code.co_filename, "line": frame.f_lineno}


def _has_row(value: Any, row: torch.Tensor) -> bool:
    if not isinstance(value, torch.Tensor) or value.shape[1:] != row.shape or value.dtype is not row.dtype:
        return False
    if not value.dim() or value.layout is not torch.strided or value.numel() > MOST_ELEMENTS:
        return False
    return bool((value == row).reshape(len(value), -1).all(1).any())
