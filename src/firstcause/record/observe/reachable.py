"""What a frame of the program can reach: its modules, optimizers, generators and its own objects, by path.

Found by type and ``__dict__`` alone: ``isinstance`` and ``getattr`` would run code of lazy proxies.
"""

from __future__ import annotations

import gc
import sys
from collections import deque
from collections.abc import Callable, Iterator
from itertools import compress
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any
from weakref import WeakValueDictionary

import torch

from firstcause.record.observe import rng
from firstcause.record.observe.frame_names import names_of

DEPTH = 4
LIMIT = 20_000
WIDE = 64
ATOMS = (int, float, bool, str, bytes, complex, type(None), range, slice)
# Attributes that every nn.Module has; the rest are the program's own.
MODULE_OWN = frozenset(torch.nn.Module().__dict__)


class Reachable:
    """The objects found from a frame, each under the path by which a person would name it.

    Held weakly: a model that the program lets go of is gone also under observation.
    """

    def __init__(self) -> None:
        self.modules: WeakValueDictionary[str, torch.nn.Module] = WeakValueDictionary()
        self.optimizers: WeakValueDictionary[str, torch.optim.Optimizer] = WeakValueDictionary()
        # Generators of torch and NumPy cannot be referred to weakly; they hold nothing.
        self.generators: dict[str, Any] = {}
        self.objects: WeakValueDictionary[str, Any] = WeakValueDictionary()
        self.tensors: WeakValueDictionary[str, torch.Tensor] = WeakValueDictionary()


def reach(frame: FrameType, own: Callable[[type], bool], known: dict[str, Any] | None = None) -> Reachable:
    """Walk from a frame's variables, those of its callers in the same program, and its globals.

    ``own`` tells whether a class is the program's; ``known`` are names of the frame that are known without
    looking. At most depth 4 and 20,000 objects.
    """
    found = Reachable()
    seen: set[int] = set()
    queue: deque[tuple[str, Any, int]] = deque(_roots(frame, known or {}))
    while queue and len(seen) < LIMIT:
        path, value, depth = queue.popleft()
        kind = type(value)
        if kind in ATOMS or id(value) in seen:
            continue
        seen.add(id(value))
        queue.extend((p, v, depth + 1) for p, v in _visit(found, path, value, kind, own) if depth < DEPTH)
    return found


def _roots(frame: FrameType, known: dict[str, Any]) -> Iterator[tuple[str, Any, int]]:
    yield from ((n, v, 0) for n, v in names_of(frame, known).items())
    yield from ((n, v, 0) for n, v in dict(frame.f_globals).items() if not n.startswith("__"))
    outer = frame.f_back
    while outer is not None:
        if outer.f_globals is frame.f_globals and outer.f_code.co_name != "<module>":
            yield from ((n, v, 0) for n, v in names_of(outer, {}).items())
        outer = outer.f_back


def _visit(
    found: Reachable, path: str, value: Any, kind: type, own: Callable[[type], bool]
) -> Iterator[tuple[str, Any]]:
    if kind is torch.Tensor or kind is torch.nn.Parameter:
        found.tensors[path] = value
    elif rng.is_generator(value):
        found.generators[path] = value
    elif kind is dict:
        yield from ((f"{path}[{k!r}]", v) for k, v in list(value.items())[:WIDE] if type(k) in (str, int))
    elif kind in (list, tuple, deque):
        yield from ((f"{path}[{i}]", v) for i, v in enumerate(list(value)[:WIDE]))
    elif kind is FunctionType:
        cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=False)
        yield from ((f"{path}.{n}", c.cell_contents) for n, c in cells if _filled(c))
    elif kind is MethodType:
        yield path, value.__self__
    elif kind is not ModuleType and not issubclass(kind, type) and hasattr(kind, "__dictoffset__"):
        yield from _visit_object(found, path, value, kind, own)


def _visit_object(
    found: Reachable, path: str, value: Any, kind: type, own: Callable[[type], bool]
) -> Iterator[tuple[str, Any]]:
    attributes = _dict_of(value)
    if attributes is None:
        return
    if issubclass(kind, torch.nn.Module):
        found.modules[path] = value
        # Its children are reached by torch's own walk; only what the program added is looked at here.
        for child_path, child in value.named_modules(prefix=path):
            extra = {k: v for k, v in (_dict_of(child) or {}).items() if k not in MODULE_OWN}
            if extra and own(type(child)) and type(child).__weakrefoffset__:
                found.objects[child_path] = child
                yield from ((f"{child_path}.{k}", v) for k, v in extra.items())
    elif issubclass(kind, torch.optim.Optimizer):
        found.optimizers[path] = value
    else:
        if (own(kind) or kind.__name__ == "GradScaler") and kind.__weakrefoffset__:
            found.objects[path] = value
        yield from ((f"{path}.{k}", v) for k, v in list(attributes.items())[:WIDE])


def _dict_of(value: Any) -> dict[str, Any] | None:
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    return attributes if type(attributes) is dict else None


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def is_own_class(kind: type, is_project_file: Callable[[str], bool]) -> bool:
    """Whether a class is defined in a file of the program."""
    module = sys.modules.get(kind.__module__)
    path = getattr(module, "__file__", None)
    return bool(path) and is_project_file(str(path))


def everything_of(*bases: type) -> list[list[Any]]:
    """For each of some classes, all of its instances in this process that the garbage collector knows."""
    everything = gc.get_objects()
    # There are many more objects than types: a type is asked once, and no line of Python runs for an object.
    kinds = {kind for kind in set(map(type, everything)) if issubclass(kind, bases)}
    found = list(compress(everything, map(kinds.__contains__, map(type, everything))))
    return [[o for o in found if issubclass(type(o), base)] for base in bases]
