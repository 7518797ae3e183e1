"""Weights whose first values a library drew: a design that models were trained with, whatever torch itself gives.

Sealed child only.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import torch

from firstcause.lab import places

# What transformers calls for each module of a model, of a subclass in the program too.
DRAWS = "_init_weights"


def weights_of_libraries() -> frozenset[int]:
    """The ids of parameters in a library's own model, or in a model whose values a method of a library draws.

    What lies in a class of the program's inside of a library's (wrapped by an adapter or an engine) is the program's.
    """
    found: set[int] = set()
    for one in gc.get_objects():
        if issubclass(type(one), torch.nn.Module) and "_modules" in one.__dict__:
            if _draws(type(one)):
                found.update(map(id, one.parameters()))
            elif _is_library(type(one)):
                found.update(id(p) for m in _within(one) for p in m._parameters.values() if p is not None)
    return frozenset(found)


def _within(module: torch.nn.Module) -> Iterator[torch.nn.Module]:
    yield module
    for child in module.children():
        if _is_library(type(child)) or _is_torch(type(child)):
            yield from _within(child)


def _is_library(kind: type) -> bool:
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return file is not None and not _is_torch(kind) and not places.is_user_file(file)


def _is_torch(kind: type) -> bool:
    return kind.__module__.startswith("torch.")


def _draws(kind: type) -> bool:
    holder = next((c for c in kind.__mro__ if DRAWS in vars(c)), None)
    return holder is not None and _is_library(holder)
