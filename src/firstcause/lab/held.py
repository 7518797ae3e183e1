"""What the program's running functions hold by name: each value with the expression that reaches it, and whose it is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch

from firstcause.lab import places
from firstcause.record.observe.reachable import MODULE_OWN

DEPTH, WIDE, MOST = 3, 64, 4000
# Objects of libraries that hold what the program gave them, by the attributes that are looked into.
HOLDERS = {
    "DataLoader": ("generator", "sampler", "dataset"),
    "RandomSampler": ("generator",),
    "AveragedModel": ("n_averaged",),
    "Trainer": ("callback_handler", "state"),
    "CallbackHandler": ("callbacks",),
    "TrainerState": ("global_step",),
}


@dataclass(frozen=True)
class Held:
    """A value, the expression for it in its frame, a key that survives a new object of the same class, and its owner."""

    expression: str
    key: str
    value: Any
    owner: Any
    attribute: str


@dataclass(frozen=True)
class Place:
    """Where one frame of the program stood, and what it could name."""

    site: dict[str, Any]
    held: tuple[Held, ...]

    def expression(self, thing: Any) -> str | None:
        """The shortest way to name a thing here; None where it cannot be named."""
        found = [h.expression for h in self.held if h.value is thing]
        return min(found, key=len, default=None)


def held_from(frame: FrameType | None) -> list[Place]:
    """Each frame of the program from ``frame`` outwards, innermost first, with what it holds."""
    found = []
    for user in places.user_frames(frame):
        seen: set[int] = set()
        held = tuple(
            h for n, v in dict(user.f_locals).items() for h in _within(n, n, v, None, n, DEPTH, seen)
        )
        found.append(Place(places.standing(user), held[:MOST]))
    return found


def _within(
    expression: str, key: str, value: Any, owner: Any, attribute: str, depth: int, seen: set[int]
) -> Iterator[Held]:
    if expression.startswith(("__", ".")):
        return
    yield Held(expression, key, value, owner, attribute)
    kind = type(value)
    if kind in (int, float, bool, str, bytes, type(None)) or id(value) in seen or not depth:
        return
    seen.add(id(value))
    # What a library's object hands on is as near as the object itself.
    further = depth if _holder(kind) is not None else depth - 1
    for name, one in _attributes(value):
        yield from _within(f"{expression}.{name}", f"{kind.__name__}.{name}", one, value, name, further, seen)
    if kind is dict:
        for name, one in list(value.items())[:WIDE]:
            if isinstance(name, str) and not isinstance(one, torch.Tensor):
                yield from _within(
                    f"{expression}[{name!r}]", f"{key}[{name!r}]", one, value, name, depth - 1, seen
                )
    elif kind in (list, tuple):
        for number, one in enumerate(value[:WIDE]):
            if not isinstance(one, torch.Tensor):
                yield from _within(
                    f"{expression}[{number}]", f"{key}[{number}]", one, value, str(number), depth - 1, seen
                )


def _holder(kind: type) -> str | None:
    """The library's class of ``HOLDERS`` that a class is or derives from; a program may have a Trainer of its own."""
    for base in kind.__mro__:
        if base.__name__ in HOLDERS and not places.is_user_module(sys.modules.get(base.__module__)):
            return base.__name__
    return None


def _attributes(value: Any) -> list[tuple[str, Any]]:
    kind = type(value)
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return []
    if isinstance(value, type) or type(own) is not dict:
        return []
    holder = _holder(kind)
    if holder is not None:
        return [(n, own[n]) for n in HOLDERS[holder] if own.get(n) is not None]
    if not places.is_user_module(sys.modules.get(kind.__module__)):
        return []
    names = [n for n in own if n not in MODULE_OWN] if isinstance(value, torch.nn.Module) else list(own)
    if isinstance(value, torch.nn.Module):
        # Layers are reached by torch's own walk; a network within a network may be its average.
        return [(n, own[n]) for n in names] + list(own["_modules"].items())
    return [(n, own[n]) for n in names[:WIDE]]
