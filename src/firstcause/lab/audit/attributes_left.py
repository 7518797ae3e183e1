"""Plain tensor attributes that a state dict does not hold: a model that is loaded from it computes something else without them.

What the saved model gives for a batch is kept when its state is asked for, and compared at the first call of the model that
the state went into: as it is, and with the attributes of the saved one.
"""

from __future__ import annotations

import copy
import functools
import os
import sys
import weakref
from collections import deque
from collections.abc import Iterator, Mapping, ValuesView
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.audit import Watcher
from firstcause.lab.optimizers import figure_of
from firstcause.record.observe.guard import unseen

HERE = os.path.dirname(__file__)
# Larger attributes are no statistics, and would be copied here.
MOST_ELEMENTS = 1 << 20
MOST_SAVED = 16
# Relative to the largest value that the saved model gave.
DIFFERENT, SAME = 1e-3, 1e-5
# How far tensors may lie within tuples and mappings in what a model gives.
DEPTH = 2

Attributes = dict[tuple[str, str], torch.Tensor]


@dataclass
class Saved:
    """A model when its state was asked for: its attributes, a batch, and what it gave for that in evaluation mode."""

    keys: frozenset[str]
    figure: float
    attributes: Attributes
    batch: tuple[Any, ...]
    output: torch.Tensor


class Watch(Watcher):
    """Facts: ``attributes_left``, the first attribute that a loaded model misses, and the outputs with it and without."""

    def start(self) -> None:
        self.saved: dict[type, deque[Saved]] = {}
        self.batches: dict[type, tuple[Any, ...]] = {}
        self.holds: weakref.WeakKeyDictionary[torch.nn.Module, bool] = weakref.WeakKeyDictionary()
        self.due: weakref.WeakKeyDictionary[torch.nn.Module, tuple[Saved, Any]] = weakref.WeakKeyDictionary()
        self.found: dict[str, Any] = {}
        module = torch.nn.Module
        module.state_dict = self._around(module.state_dict, self._asked)
        module.load_state_dict = self._around(module.load_state_dict, self._loaded)

    def _around(self, method: Any, note: Any) -> Any:
        @functools.wraps(method)
        def called(module: Any, *args: Any, **kwargs: Any) -> Any:
            result = method(module, *args, **kwargs)
            caller = sys._getframe(1)
            while os.path.dirname(caller.f_code.co_filename) == HERE and caller.f_back is not None:
                # Another watcher's wrapper.
                caller = caller.f_back
            if places.is_user_file(caller.f_code.co_filename):
                try:
                    note(module, args, result, places.of_frame(caller, columns=True))
                except Exception:  # noqa: BLE001 - a model that cannot be copied or called is not looked into
                    self.saved.pop(type(module), None)
            return result

        return called

    def ran(self, module: torch.nn.Module, args: tuple[Any, ...], result: Any) -> None:
        if module not in self.holds:
            self.holds[module] = any(True for _ in _attributes(module))
        if not self.holds[module]:
            return
        if _numbers(result) and all(isinstance(a, torch.Tensor) for a in args):
            self.batches[type(module)] = args
        if module in self.due:
            self._compare(module, *self.due.pop(module))

    def _asked(self, module: torch.nn.Module, args: Any, result: Any, site: Any) -> None:
        batch = self.batches.get(type(module))
        attributes = {k: t.detach().clone() for k, t in _attributes(module)}
        if batch is None or not attributes or not isinstance(result, Mapping):
            return
        batch, whole = tuple(a.detach().clone() for a in batch), copy.deepcopy(module)
        output = _evaluated(whole, batch)
        # What a forward writes is a state of the call, or a cache.
        after = dict(_attributes(whole))
        still = {k: t for k, t in attributes.items() if k in after and torch.equal(t, after[k])}
        if output is not None and still:
            one = Saved(frozenset(map(str, result)), _figure(result), still, batch, output)
            self.saved.setdefault(type(module), deque(maxlen=MOST_SAVED)).append(one)

    def _loaded(self, module: torch.nn.Module, args: Any, result: Any, site: dict[str, Any] | None) -> None:
        given = args[0] if args else None
        if site is None or not isinstance(given, Mapping):
            return
        keys, figure = frozenset(map(str, given)), _figure(given)
        alike = [s for s in self.saved.get(type(module), ()) if s.keys == keys]
        if alike:
            # The best of several need not be the last one.
            self.due[module] = next((s for s in reversed(alike) if s.figure == figure), alike[-1]), site

    def _compare(self, module: torch.nn.Module, saved: Saved, site: dict[str, Any]) -> None:
        own = dict(_attributes(module))
        other = {
            k: t
            for k, t in saved.attributes.items()
            if k in own and not (own[k].shape == t.shape and torch.equal(own[k], t))
        }
        if self.found or not other:
            return
        whole = copy.deepcopy(module)
        without = _evaluated(whole, saved.batch)
        for (path, name), tensor in other.items():
            setattr(whole.get_submodule(path), name, tensor)
        having = _evaluated(whole, saved.batch)
        if without is None or having is None:
            return
        scale = max(float(saved.output.abs().max()), 1e-12)
        if not without.shape == having.shape == saved.output.shape:
            return
        differs, then = (float((o - saved.output).abs().max()) / scale for o in (without, having))
        if differs < DIFFERENT or then > SAME:
            return
        path, name = next(iter(other))
        # Of the same module, so that one statement of its class beside the other makes them.
        beside = [n for p, n in other if p == path]
        self.found = {
            "site": site,
            "class": type(module.get_submodule(path)).__name__,
            "path": path,
            "attribute": name,
            "beside": beside,
            "names": [f"{p}.{n}".lstrip(".") for p, n in other],
            "differs": differs,
            "then": then,
            "saved": _range(other[(path, name)]),
            "loaded": _range(own[(path, name)]),
        }

    def facts(self) -> dict[str, Any]:
        return {"attributes_left": self.found} if self.found else {}


def _attributes(module: torch.nn.Module) -> Iterator[tuple[tuple[str, str], torch.Tensor]]:
    """Plain tensors of floating point that hang on a module or on those within it, by path and name."""
    for path, inner in module.named_modules():
        for name, value in vars(inner).items():
            if (
                type(value) is torch.Tensor
                and value.is_floating_point()
                and value.grad_fn is None
                and value.numel() <= MOST_ELEMENTS
            ):
                yield (path, name), value


def _figure(state: Mapping[Any, Any]) -> float:
    """A number that tells one state of a model from another."""
    tensors = (t for t in state.values() if isinstance(t, torch.Tensor))
    return sum(map(figure_of, tensors))


def _evaluated(copied: torch.nn.Module, batch: tuple[Any, ...]) -> torch.Tensor | None:
    """What a copy of a model gives for a batch in evaluation mode; nobody else who looks on is told of the call."""
    copied.eval()
    with unseen(), _without_hooks(), torch.no_grad(), torch.random.fork_rng(devices=[]):
        given = _numbers(copied(*batch))
    return torch.cat([t.detach().float().flatten() for t in given]) if given else None


def _numbers(result: Any, depth: int = DEPTH) -> list[torch.Tensor]:
    """The tensors of floating point in what a model gives: itself, or those of a tuple or a mapping, in their order."""
    if isinstance(result, torch.Tensor):
        return [result] if result.is_floating_point() and result.numel() else []
    inner = result.values() if isinstance(result, Mapping) else result
    if not depth or not isinstance(inner, (tuple, list, ValuesView)):
        return []
    return [t for one in inner for t in _numbers(one, depth - 1)]


@contextmanager
def _without_hooks() -> Iterator[None]:
    """Without the hooks on every module, which are those of the watchers."""
    hooks = torch.nn.modules.module
    held = [(d, dict(d)) for d in (hooks._global_forward_pre_hooks, hooks._global_forward_hooks)]
    for d, _ in held:
        d.clear()
    try:
        yield
    finally:
        for d, before in held:
            d.update(before)


def _range(tensor: torch.Tensor) -> list[float]:
    return [float(tensor.min()), float(tensor.max())] if tensor.numel() else []
