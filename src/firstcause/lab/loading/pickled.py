"""What a spawned worker is sent, pickled part by part: the parts that cannot be, and whether the rest can."""

from __future__ import annotations

import functools
import io
import types
from collections.abc import Iterable, Iterator
from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.loading.asked import Asked

Facts = dict[str, Any]
DEPTH, MOST = 8, 6


class Leaf:
    """A part that cannot be pickled although all that it holds can."""

    def __init__(self, path: str, value: Any, error: Exception, owner: Any) -> None:
        self.path, self.value, self.error, self.owner = path, value, error, owner

    def facts(self) -> Facts:
        code = getattr(self.value, "__code__", None)
        kind = self.value if isinstance(self.value, type) else type(self.value)
        local = kind if "<locals>" in kind.__qualname__ else None
        return {
            "path": self.path,
            "kind": kind.__name__,
            "module": kind.__module__,
            "error": f"{type(self.error).__name__}: {self.error}"[:200],
            "name": getattr(self.value, "__qualname__", None) if code or local is not None else None,
            "local_class": local.__name__ if local is not None else None,
            "defined": places.place(code.co_filename, code.co_firstlineno, code.co_name)
            if code is not None
            else None,
            "owner": type(self.owner).__name__ if self.owner is not None else None,
            "device": str(getattr(self.value, "device", "") or ""),
        }


def unpicklable(asked: Asked) -> Facts | None:
    """The leaves, and whether all is well without them; None where everything can be sent."""
    loader = asked.loader
    sent = {
        "dataset": loader.dataset,
        "collate_fn": loader.collate_fn,
        "worker_init_fn": loader.worker_init_fn,
    }
    if all(_error(value) is None for value in sent.values()):
        return None
    leaves = [leaf for path, value in sent.items() for leaf in _leaves(value, path, None, DEPTH, set())][
        :MOST
    ]
    return {"leaves": [leaf.facts() for leaf in leaves], "rest": _without(sent, leaves)}


class Sent(ForkingPickler):
    """The pickler of multiprocessing, without the tensors that torch hands over in shared memory, and without ``passed``."""

    def __init__(self, passed: Iterable[Any] = ()) -> None:
        super().__init__(io.BytesIO())
        self.passed = {id(value) for value in passed}

    def persistent_id(self, value: Any) -> str | None:
        shared = (
            isinstance(value, torch.Tensor)
            and value.device.type == "cpu"
            and (value.is_leaf or not value.requires_grad)
        )
        return str(id(value)) if shared or id(value) in self.passed else None


def _error(value: Any) -> Exception | None:
    try:
        Sent().dump(value)
    except Exception as error:  # noqa: BLE001 - a ``__reduce__`` of the program may raise anything
        return error
    return None


def _leaves(value: Any, path: str, owner: Any, depth: int, seen: set[int]) -> Iterator[Leaf]:
    error = _error(value)
    if error is None or id(value) in seen or not depth:
        return
    seen.add(id(value))
    found = False
    inner = value if hasattr(value, "__dict__") else owner
    for name, part in _held(value):
        for leaf in _leaves(part, path + name, inner, depth - 1, seen):
            found = True
            yield leaf
    if not found:
        yield Leaf(path, value, error, owner)


def _held(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f"[{k!r}]", v) for k, v in value.items())
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from ((f"[{i}]", v) for i, v in enumerate(value))
    elif isinstance(value, types.MethodType):
        yield ".__self__", value.__self__
    elif isinstance(value, functools.partial):
        yield ".func", value.func
        yield from ((f".args[{i}]", v) for i, v in enumerate(value.args))
        yield from ((f".keywords[{k!r}]", v) for k, v in value.keywords.items())
    elif hasattr(value, "__dict__") and not isinstance(value, (type, types.FunctionType, types.ModuleType)):
        yield from ((f".{k}", v) for k, v in vars(value).items())


def _without(sent: dict[str, Any], leaves: list[Leaf]) -> bool:
    """Whether all the rest can be pickled."""
    try:
        Sent(leaf.value for leaf in leaves).dump(sent)
    except Exception:  # noqa: BLE001 - then it is something else too
        return False
    return True
