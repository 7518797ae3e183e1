"""Generators of random numbers: the process's own and those that a dataset holds, their states, and what they give next."""

from __future__ import annotations

import copy
import hashlib
import pickle
import random
import sys
from collections.abc import Iterator
from typing import Any

import torch

from firstcause.record.observe import rng

DEPTH = 3


def generators(dataset: Any) -> list[tuple[str, Any]]:
    """The process's own generators and those that a dataset holds, by the path of attributes that leads to them."""
    found: list[tuple[str, Any]] = [("random", random)]
    if "numpy" in sys.modules:
        found.append(("numpy.random", sys.modules["numpy"].random))
    return found + list(held_by(dataset))


def held_by(dataset: Any) -> Iterator[tuple[str, Any]]:
    """The generators that a dataset holds, by the path of attributes that leads to them."""
    return _within(dataset, "", DEPTH, set())


def _within(value: Any, path: str, depth: int, seen: set[int]) -> Iterator[tuple[str, Any]]:
    if id(value) in seen or isinstance(value, (torch.nn.Module, torch.Tensor)):
        return
    seen.add(id(value))
    if rng.is_generator(value):
        yield path, value
    elif isinstance(value, (list, tuple)) and len(value) < 32:
        for number, one in enumerate(value):
            yield from _within(one, f"{path}[{number}]", depth - 1, seen)
    elif depth and hasattr(value, "__dict__") and not isinstance(value, type):
        for key, one in vars(value).items():
            yield from _within(one, f"{path}.{key}".lstrip("."), depth - 1, seen)


def state(generator: Any) -> str:
    """A short text that is the same for the same state; ``random`` and ``numpy.random`` are generators too."""
    if rng.is_generator(generator):
        found = rng.state_of(generator)
    else:
        found = generator.getstate() if generator is random else generator.get_state()
    raw = found.numpy().tobytes() if isinstance(found, torch.Tensor) else pickle.dumps(found)
    return hashlib.blake2b(raw, digest_size=8).hexdigest()


def next_number(generator: Any) -> float | None:
    """The number that a generator would give next, drawn from a copy of it."""
    if isinstance(generator, torch.Generator):
        twin = torch.Generator()
        twin.set_state(generator.get_state())
        return round(float(torch.rand((), generator=twin)), 6)
    if rng.is_generator(generator):
        return round(float(copy.deepcopy(generator).random()), 6)
    return None


def owner_of(dataset: Any, path: str) -> tuple[str, str]:
    """The class that holds a generator, and the generator's own class; empty for the process's own."""
    held = dict(generators(dataset)).get(path)
    if held is None or not rng.is_generator(held):
        return "", ""
    value = dataset
    for part in path.split(".")[:-1]:
        value = getattr(value, part.split("[")[0], value)
    return type(value).__name__, type(held).__name__
