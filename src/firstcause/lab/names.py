"""How the program names a value: a variable, an attribute or an item in one of the frames that are running.

Also the variable that a tensor's rows were taken from.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch

from firstcause.lab import places

MOST_FRAMES = 30
MOST_ITEMS = 64
# Variables of one frame, and elements of one tensor, that are looked through for a row.
MOST_NAMES, MOST_ELEMENTS = 200, 4_000_000


def name_in(frame: FrameType | None, value: Any) -> dict[str, Any]:
    """``text``: what the innermost frame of the program calls it; ``bound``: where the outermost one holds it, and as what."""
    found: dict[str, Any] = {}
    for _ in range(MOST_FRAMES):
        if frame is None:
            break
        if places.is_user_file(frame.f_code.co_filename):
            text = next((t for t, v in named(frame) if v is value), None)
            if text is not None:
                found.setdefault("text", text)
                found["bound"] = places.standing(frame) | {"text_there": text}
        frame = frame.f_back
    return found


def named(frame: FrameType) -> Iterator[tuple[str, Any]]:
    """The values that a frame reaches by a name, an attribute of a name, or an item of a small dict."""
    variables = dict(frame.f_locals) if frame.f_locals is not frame.f_globals else dict(frame.f_globals)
    yield from variables.items()
    for name, holder in list(variables.items()):
        if isinstance(holder, dict):
            for key, value in list(holder.items())[:MOST_ITEMS]:
                if isinstance(key, (str, int)):
                    yield f"{name}[{key!r}]", value
        elif isinstance(holder, (list, tuple)):
            yield from ((f"{name}[{i}]", v) for i, v in enumerate(holder[:MOST_ITEMS]))
        elif places.is_user_module(sys.modules.get(type(holder).__module__)):
            yield from ((f"{name}.{k}", v) for k, v in list(getattr(holder, "__dict__", {}).items()))
            for table in ("_buffers", "_parameters"):
                held = getattr(holder, "__dict__", {}).get(table)
                yield from ((f"{name}.{k}", v) for k, v in (held or {}).items())


def row_holder(tensor: torch.Tensor, row: int, frame: FrameType | None) -> dict[str, Any] | None:
    """Name, file and line of the outermost variable for a tensor; else of one that has its ``row`` among its rows."""
    wanted = {id(tensor)} | ({id(tensor._base)} if tensor._base is not None else set())
    frames = list(places.user_frames(frame))
    for user in reversed(frames):
        for name, value in _variables(user):
            if id(value) in wanted:
                return _place(name, user)
    for user in frames:
        for name, value in _variables(user):
            if _has_row(value, tensor[row]):
                return _place(name, user)
    return None


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
