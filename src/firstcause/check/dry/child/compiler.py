"""torch's compiler, which nothing is compiled with here, and whose import takes longer than the dry run of a small script.

Its settings are the real ones; whatever else is asked of it is a class without content, or a decorator that changes nothing.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import torch

NAME = "torch._dynamo"
REAL = ("torch._dynamo.config",)


def put_off() -> None:
    """Before the first fake tensor; nothing where somebody has imported it."""
    spec = importlib.util.find_spec(NAME)
    if NAME in sys.modules or spec is None:
        return
    package = _Empty(NAME)
    package.__spec__, package.__loader__, package.__file__ = spec, spec.loader, spec.origin
    package.__path__ = list(spec.submodule_search_locations or ())
    sys.modules[NAME] = torch._dynamo = package
    torch.ops.streams = _Operators()
    sys.meta_path.insert(0, _Finder())


class _Operators:
    """Operators that the compiler would have defined; one is known by its name, and nobody calls it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = _Operators()
        setattr(self, name, found)
        return found


class _Empty(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if any(os.path.exists(os.path.join(p, name + end)) for p in self.__path__ for end in (".py", "")):
            return importlib.import_module(f"{self.__name__}.{name}")
        made = type(name, (), _EMPTY_CLASS) if name[:1].isupper() else _as_it_is
        setattr(self, name, made)
        return made


class _Finder(MetaPathFinder, Loader):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        stands_in = name.startswith(NAME + ".") and name not in REAL
        return ModuleSpec(name, self, is_package=True) if stands_in else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Empty(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        return None


def _accept(self: Any, *args: Any, **kwargs: Any) -> None:
    return None


def _as_it_is(function: Any = None, *args: Any, **kwargs: Any) -> Any:
    """A decorator, with or without arguments; asked whether something is so, it says no."""
    if callable(function):
        return function
    return _as_it_is if function is None else None


# A class may be asked for its kind: ``Cache[str]``.
_EMPTY_CLASS = {"__init__": _accept, "__class_getitem__": classmethod(lambda cls, item: cls)}
