"""Values of the program at a mark, by reference where that is enough and by copy where it is not."""

from __future__ import annotations

import weakref
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator
from typing import Any

import torch

CONTAINERS = (dict, list, set, deque, OrderedDict, defaultdict, Counter)
SMALL = 256
# A larger tensor that is only referred to must not live longer for us: the program's peak would grow.
LARGE_BYTES = 1 << 20


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
            present = {k: v for k, v in zip(content, _strong(content.values()), strict=True) if v is not GONE}
            where.update(present)
            for key in [k for k in where if k not in content]:
                del where[key]


GONE = object()


def keep_containers(value: Any, depth: int = 2) -> Iterator[Kept]:
    """What a value's containers hold now, two levels deep; a long list by its length alone."""
    kind = type(value)
    if kind not in CONTAINERS:
        if kind is tuple and depth:
            for item in value[:SMALL]:
                yield from keep_containers(item, depth)
        return
    if len(value) > SMALL:
        # It can be cut back to its length, which undoes appending; a copy at every step would not be cheap.
        if kind in (list, deque) and getattr(value, "maxlen", None) is None:
            yield Kept(value, len(value))
        return
    if isinstance(value, dict):
        yield Kept(value, {k: _weak(v) for k, v in value.items()})
        items = list(value.values())
    else:
        yield Kept(value, set(value) if kind is set else list(value))
        items = [] if kind is set else list(value)
    if depth > 1:
        for item in items:
            yield from keep_containers(item, depth - 1)


def keep_attributes(owner: Any, skip: frozenset[str]) -> Iterator[Kept]:
    """The plain attributes of an object of the program, and its small containers."""
    attributes = object.__getattribute__(owner, "__dict__")
    if skip:
        yield Kept(_Some(attributes, skip), {k: _weak(v) for k, v in attributes.items() if k not in skip})
    else:
        yield Kept(attributes, {k: _weak(v) for k, v in attributes.items()})
    for key, value in attributes.items():
        if key not in skip:
            yield from keep_containers(value)


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


def _weak(value: Any) -> Any:
    if type(value) is torch.Tensor and value.numel() * value.element_size() > LARGE_BYTES:
        return weakref.ref(value)
    return value


def _strong(values: Any) -> list[Any]:
    result = []
    for value in values:
        if type(value) is weakref.ref:
            target = value()
            result.append(GONE if target is None else target)
        else:
            result.append(value)
    return result
