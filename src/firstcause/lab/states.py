"""What may differ between a forward and its recomputation: generators, attributes of objects, caches; read and put back."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch

from firstcause.lab import places
from firstcause.record.observe import rng
from firstcause.record.observe.reachable import MODULE_OWN

PLAIN = (int, float, bool, str, bytes, complex, type(None))
CONTAINERS = (list, dict, set)
LARGE = 10_000
Values = dict[str, tuple[Any, Any]]


@dataclass
class Source:
    """One thing that a computation reads and may change: ``read`` gives its state, ``write`` puts one back.

    ``changed`` names what differs between two states; empty where they are the same. ``write`` takes the names that
    are to be put back, all of them where none are given.
    """

    kind: str
    name: str
    owner: str
    read: Callable[[], Any]
    write: Callable[..., None]
    changed: Callable[[Any, Any], list[str]]


def generators(held: dict[str, Any]) -> list[Source]:
    """The global generators and those that the program holds, by path."""
    found = [
        _generator("torch", torch.get_rng_state, torch.set_rng_state),
        _generator("python", random.getstate, random.setstate),
    ]
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "random"):
        found.append(_generator("numpy", numpy.random.get_state, numpy.random.set_state))
    for path, generator in held.items():
        found.append(
            _generator(
                path,
                lambda g=generator: rng.state_of(g),  # type: ignore[misc]
                lambda s, g=generator: rng.set_state_of(g, s),  # type: ignore[misc]
            )
        )
    return found


def _generator(name: str, read: Callable[[], Any], put: Callable[[Any], None]) -> Source:
    def changed(one: Any, other: Any) -> list[str]:
        return [] if repr(_bits(one)) == repr(_bits(other)) else [name]

    def write(state: Any, only: frozenset[str] | None = None) -> None:
        put(state)

    return Source("generator", name, "", read, write, changed)


def _bits(state: Any) -> Any:
    if isinstance(state, torch.Tensor):
        return state.numpy().tobytes()
    if isinstance(state, dict):
        return {k: _bits(v) for k, v in state.items()}
    if isinstance(state, tuple):
        return [v.tobytes() if hasattr(v, "tobytes") else v for v in state]
    return state


def attributes(owners: dict[str, Any]) -> list[Source]:
    """The plain attributes of objects of the program, modules of torch without what every one of them has."""
    return [_space(path, o, _own_names(o)) for path, o in owners.items() if hasattr(o, "__dict__")]


def _own_names(owner: Any) -> frozenset[str]:
    return MODULE_OWN - {"training"} if isinstance(owner, torch.nn.Module) else frozenset()


def variables() -> list[Source]:
    """The variables of the program's own files, and what its functions have cached."""
    found: list[Source] = []
    for module in list(sys.modules.values()):
        if not isinstance(module, ModuleType) or not places.is_user_module(module):
            continue
        names = {n: v for n, v in vars(module).items() if not n.startswith("__")}
        if any(map(_is_data, names.values())):
            skip = frozenset(n for n, v in vars(module).items() if n.startswith("__") or not _is_data(v))
            found.append(_space(module.__name__, module, skip))
        spaces = [
            names,
            *(vars(v) for v in names.values() if isinstance(v, type) and v.__module__ == module.__name__),
        ]
        for space in spaces:
            found += [
                _cached(n, v)
                for n, v in space.items()
                if hasattr(v, "cache_clear") and hasattr(v, "cache_info")
            ]
    return found


def _is_data(value: Any) -> bool:
    return isinstance(value, (*CONTAINERS, *PLAIN, torch.Tensor))


def _cached(name: str, function: Any) -> Source:
    return Source(
        "cache",
        name,
        "",
        lambda: function.cache_info().currsize,
        # What was not there before cannot be taken out alone.
        lambda size, only=None: function.cache_clear(),
        lambda one, other: [name] if one != other else [],
    )


def _space(path: str, owner: Any, skip: frozenset[str]) -> Source:
    space = owner.__dict__

    def read() -> Values:
        return {n: (v, _copy(v)) for n, v in list(space.items()) if n not in skip}

    def write(values: Values, only: frozenset[str] | None = None) -> None:
        for name in changed(values, read()):
            if only is not None and name not in only:
                continue
            if name not in values:
                del space[name]
                continue
            value, content = values[name]
            space[name] = value
            if content is not None:
                _refill(value, content)

    def changed(one: Values, other: Values) -> list[str]:
        return [n for n in {**one, **other} if n not in one or n not in other or not _same(one[n], other[n])]

    return Source("attribute", path, type(owner).__name__, read, write, changed)


def _copy(value: Any) -> Any:
    return type(value)(value) if type(value) in CONTAINERS and len(value) <= LARGE else None


def _refill(value: Any, content: Any) -> None:
    if isinstance(value, list):
        value[:] = content
    else:
        value.clear()
        value.update(content)


def _same(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    (value, content), (value_now, content_now) = one, other
    if type(value) is not type(value_now):
        return False
    if isinstance(value, PLAIN):
        return bool(value == value_now)
    if value is not value_now:
        return False
    if isinstance(content, dict):
        return content.keys() == content_now.keys() and all(content[k] is content_now[k] for k in content)
    if isinstance(content, list):
        return len(content) == len(content_now) and all(
            a is b for a, b in zip(content, content_now, strict=True)
        )
    return bool(content == content_now)


def holds_tensor(value: Any) -> bool:
    """Whether a value is a tensor, or a container or plain object with one in it."""
    return any(isinstance(v, torch.Tensor) for v in _flat(value, 3))


def _flat(value: Any, depth: int) -> Iterator[Any]:
    yield value
    if depth and isinstance(value, (list, tuple, set)):
        for item in list(value)[:100]:
            yield from _flat(item, depth - 1)
    elif depth and isinstance(value, dict):
        for item in list(value.values())[:100]:
            yield from _flat(item, depth - 1)
