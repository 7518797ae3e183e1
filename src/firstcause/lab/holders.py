"""Under which names the program holds a tensor: variables, attributes and items, as the running frames show them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any

import torch

from firstcause.lab import places

ITEMS = 200
SHOWN = 6


Held = tuple[dict[str, Any], Callable[[], bool]]


def of(tensor: torch.Tensor, frame: FrameType | None) -> list[Held]:
    """The expressions that give the tensor in the user's frames, outermost frame first; empty where none does.

    Each comes with a question that can be asked later: whether it still gives the same tensor.
    """
    found: list[Held] = []
    for user in reversed(list(places.user_frames(frame))):
        where = {
            "file": user.f_code.co_filename,
            "line": user.f_lineno,
            "function": user.f_code.co_name,
            "first_line": user.f_code.co_firstlineno,
        }
        for name, value in _variables(user).items():
            for held in _within(tensor, name, value):
                found.append((where | held, _still(tensor, user, held, value)))
    return found[:SHOWN]


def _variables(frame: FrameType) -> dict[str, Any]:
    known = {n: frame.f_globals[n] for n in frame.f_code.co_names if n in frame.f_globals}
    return known | dict(frame.f_locals)


def _still(tensor: torch.Tensor, frame: FrameType, held: dict[str, Any], owner: Any) -> Callable[[], bool]:
    def ask() -> bool:
        # The frame runs on, the object lives on: what they hold is asked for again.
        now = owner if held["attribute"] else _variables(frame).get(held["name"])
        return any(h["expression"] == held["expression"] for h in _within(tensor, held["name"], now))

    return ask


def _within(tensor: torch.Tensor, name: str, value: Any) -> Iterator[dict[str, Any]]:
    if value is tensor:
        yield {"expression": name, "name": name, "attribute": None, "class": None}
        return
    if isinstance(value, torch.Tensor):
        return
    if isinstance(value, (list, tuple, dict)):
        if _item(tensor, value):
            yield {"expression": f"{name}[...]", "name": name, "attribute": None, "class": None}
        return
    space = getattr(value, "__dict__", None)
    if not isinstance(space, dict) or isinstance(value, type) or type(value).__name__ == "module":
        return
    parts = space | (space.get("_buffers") or {})
    for attribute, held in parts.items():
        if held is tensor or (isinstance(held, (list, tuple, dict)) and _item(tensor, held)):
            yield {
                "expression": f"{name}.{attribute}",
                "name": name,
                "attribute": attribute,
                "class": type(value).__name__,
            }


def _item(tensor: torch.Tensor, container: Any) -> bool:
    values = list(container.values()) if isinstance(container, Mapping) else list(container)
    return any(
        v is tensor or (isinstance(v, (list, tuple)) and any(x is tensor for x in v[:ITEMS]))
        for v in values[:ITEMS]
    )
