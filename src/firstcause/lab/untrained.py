"""Parameters that a training reaches and no optimizer holds, and how the model holds them. Sealed child only."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.optimizers import Optimizers, is_live

DEPTH, ITEMS = 3, 64
# What torch's own modules keep in plain attributes is theirs.
OWN = "torch."


class Ran:
    """The modules whose forward has run with gradients on."""

    def __init__(self) -> None:
        self.modules: dict[int, torch.nn.Module] = {}

    def add(self, module: torch.nn.Module) -> None:
        if torch.is_grad_enabled():
            self.modules.setdefault(id(module), module)

    def roots(self) -> list[torch.nn.Module]:
        """Those that are part of no other one."""
        parts = {id(p) for m in self.modules.values() for p in m.modules() if p is not m}
        return [m for i, m in self.modules.items() if i not in parts]

    def parameters(self) -> dict[int, tuple[torch.nn.Parameter, torch.nn.Module, str]]:
        """Every parameter of theirs, with the module that holds it and its name there."""
        found: dict[int, tuple[torch.nn.Parameter, torch.nn.Module, str]] = {}
        for module in self.modules.values():
            for name, parameter in module._parameters.items():
                if parameter is not None:
                    found.setdefault(id(parameter), (parameter, module, name))
            for _, where, value in in_containers(module):
                if isinstance(value, torch.nn.Parameter):
                    found.setdefault(id(value), (value, module, where))
        return found


def without_optimizer(ran: Ran, optimizers: Optimizers) -> list[torch.nn.Parameter]:
    """The parameters of modules that ran which have a gradient now and which no optimizer holds."""
    held = optimizers.held()
    return [
        p
        for i, (p, _, _) in ran.parameters().items()
        if i not in held and p.requires_grad and is_live(p.grad)
    ]


def in_containers(module: torch.nn.Module) -> Iterator[tuple[Any, str, Any]]:
    """Modules and parameters in plain attributes: in lists, tuples and dicts, and in objects that are no modules.

    Each with the object whose attribute keeps it, and the attribute's name.
    """
    if not type(module).__module__.startswith(OWN):
        yield from _attributes(module, DEPTH)


def _attributes(holder: Any, depth: int) -> Iterator[tuple[Any, str, Any]]:
    for name, value in list(vars(holder).items()):
        if name in ("_modules", "_parameters", "_buffers"):
            continue
        if isinstance(value, (list, tuple, dict, set)):
            for one in _within(value, DEPTH):
                yield holder, name, one
        elif not isinstance(holder, torch.nn.Module) and isinstance(value, torch.nn.Module):
            yield holder, name, value
        elif depth and _is_plain(value):
            yield from _attributes(value, depth - 1)


def _is_plain(value: Any) -> bool:
    """Whether a value is an object of one of the program's own classes, and no module."""
    kind = type(value)
    return (
        isinstance(getattr(value, "__dict__", None), dict)
        and not isinstance(value, (torch.nn.Module, torch.Tensor, type))
        and places.is_user_module(sys.modules.get(kind.__module__))
    )


def _within(value: Any, depth: int) -> Iterator[Any]:
    if isinstance(value, (torch.nn.Module, torch.nn.Parameter)):
        yield value
    elif depth and isinstance(value, (list, tuple, set, dict)):
        items = list(value.values() if isinstance(value, dict) else value)
        for one in items[:ITEMS]:
            yield from _within(one, depth - 1)


def plain_holder(ran: Ran, owner: torch.nn.Module, parameter: torch.nn.Parameter) -> tuple[Any, str] | None:
    """The object, and the name of its plain attribute, in which a parameter or the module that owns it is kept."""
    for module in ran.modules.values():
        if any(p is parameter for p in module.parameters()):
            continue
        for holder, name, value in in_containers(module):
            inside = value is owner or value is parameter
            if inside or (isinstance(value, torch.nn.Module) and any(m is owner for m in value.modules())):
                return holder, name
    return None


def of_no_module(optimizers: Optimizers) -> set[int]:
    """The ids of parameters that an optimizer holds and that no living module has."""
    gc.collect()
    living = {
        id(p)
        for one in gc.get_objects()
        if issubclass(type(one), torch.nn.Module) and "_parameters" in one.__dict__
        for p in one._parameters.values()
    }
    return optimizers.held() - living


def shared_places(roots: list[torch.nn.Module]) -> list[dict[str, Any]]:
    """Modules with parameters that stand at several places of one tree: their paths and the classes around them."""
    found: dict[int, dict[str, Any]] = {}
    for root in roots:
        for path, module in root.named_modules(remove_duplicate=False):
            if path and any(True for _ in module.parameters()):
                one = found.setdefault(
                    id(module),
                    {
                        "id": id(module),
                        "paths": [],
                        "class": type(module).__name__,
                        "owner": type(root).__name__,
                        "in": [],
                    },
                )
                parent = root.get_submodule(path.rpartition(".")[0])
                one["paths"].append(path)
                one["in"].append(type(parent).__name__)
    several = [one for one in found.values() if len(one["paths"]) > 1]
    tops = [set(one["paths"]) for one in several]
    # The parts of a shared module are shared with it.
    return [one for one in several if not any(all(_beneath(p, t) for p in one["paths"]) for t in tops)]


def _beneath(path: str, tops: set[str]) -> bool:
    return any(path.startswith(top + ".") for top in tops)
