"""Values of the program at a mark, by reference where that is enough and by copy where it is not."""

from __future__ import annotations

import weakref
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator
from typing import Any

import torch

CONTAINERS = frozenset((dict, list, set, deque, OrderedDict, defaultdict, Counter))
LOOKED_INTO = CONTAINERS | {tuple}
SMALL = 256
# A larger tensor that is only referred to must not live longer for us: the program's peak would grow.
LARGE_BYTES = 1 << 20


class _Ref(weakref.ref[torch.Tensor]):
    """A reference of ours: those of the program are values like others."""


class Kept:
    """One container or namespace: which object, and what it held."""

    def __init__(self, where: Any, content: Any) -> None:
        self.where = where
        self.content = content

    def put_back(self) -> None:
        where, content = self.where, self.content
        if isinstance(where, (list, deque)):
            if isinstance(content, int):
                while len(where) > content:
                    where.pop()
                return
            where.clear()
            where.extend(content)
        elif isinstance(where, set):
            where.clear()
            where.update(content)
        else:
            where.update(strong(content))
            for key in [k for k in where if k not in content]:
                del where[key]


def keep_containers(value: Any, into: list[Kept], depth: int = 2) -> None:
    """Add what a value's containers hold now, two levels deep; a long list by its length alone."""
    kind = type(value)
    if kind not in CONTAINERS:
        if kind is tuple and depth:
            for item in value[:SMALL]:
                if type(item) in LOOKED_INTO:
                    keep_containers(item, into, depth)
        return
    if len(value) > SMALL:
        # It can be cut back to its length, which undoes appending; a copy at every step would not be cheap.
        if kind in (list, deque) and getattr(value, "maxlen", None) is None:
            into.append(Kept(value, len(value)))
        return
    if isinstance(value, dict):
        into.append(Kept(value, _held(value)))
        items = list(value.values())
    else:
        into.append(Kept(value, set(value) if kind is set else list(value)))
        items = [] if kind is set else into[-1].content
    if depth > 1:
        for item in items:
            # Most items are numbers: no call is made for each of them.
            if type(item) in LOOKED_INTO:
                keep_containers(item, into, depth - 1)


def keep_attributes(owner: Any, skip: frozenset[str], into: list[Kept]) -> None:
    """Add the plain attributes of an object of the program, and its small containers."""
    attributes = object.__getattribute__(owner, "__dict__")
    if skip:
        own = {k: v for k, v in attributes.items() if k not in skip}
        into.append(Kept(_Some(attributes, skip), _held(own)))
    else:
        own = attributes
        into.append(Kept(attributes, _held(own)))
    for value in own.values():
        if type(value) in LOOKED_INTO:
            keep_containers(value, into)


class _Some:
    """A view of a namespace without the names that are not ours to put back."""

    def __init__(self, namespace: dict[str, Any], skip: frozenset[str]) -> None:
        self.namespace, self.skip = namespace, skip

    def __iter__(self) -> Iterator[str]:
        return iter([k for k in self.namespace if k not in self.skip])

    def update(self, values: dict[str, Any]) -> None:
        self.namespace.update(values)

    def __delitem__(self, key: str) -> None:
        del self.namespace[key]


def tensors_in(value: Any, depth: int = 3) -> Iterator[torch.Tensor]:
    """The tensors of a small tree of containers."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth and type(value) in (list, tuple):
        for item in value[:SMALL]:
            yield from tensors_in(item, depth - 1)
    elif depth and isinstance(value, dict) and len(value) <= SMALL:
        for item in value.values():
            yield from tensors_in(item, depth - 1)


def _held(space: dict[Any, Any]) -> dict[Any, Any]:
    return {k: _weak(v) if type(v) is torch.Tensor else v for k, v in space.items()}


def _weak(value: torch.Tensor) -> Any:
    return _Ref(value) if value.numel() * value.element_size() > LARGE_BYTES else value


def strong(space: dict[Any, Any]) -> dict[Any, Any]:
    """What was held by name, without what the program has let go of since."""
    found = {k: v() if type(v) is _Ref else v for k, v in space.items()}
    return {k: v for k, v in found.items() if v is not None or space[k] is None}
