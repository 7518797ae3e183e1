"""A value for each sample that meets rows of as many values as there are samples: it is laid along the row, unseen.

With ``settings["fewer"]``, a number of rows, every selection of so many rows from a longer tensor, and every batch of a
loader, comes with one row less: what fits by chance only is refused then, is noted, and is done again with an axis added.
"""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map
from torch.utils.data import dataloader

from firstcause.lab import places
from firstcause.lab.audit import Watcher
from firstcause.lab.ranked.fingerprint import checksum

MEETING = frozenset({"mul", "rmul", "add", "radd", "sub", "rsub", "div", "truediv", "true_divide"})
SELECTING = frozenset({"getitem", "index_select"})
LEAST, SHOWN, STEPS = 4, 8, 3


class Watch(Watcher):
    """Facts: ``widths``, the places at which they met, in the step; ``refused``, those that one row less was refused at."""

    def start(self) -> None:
        self.fewer = int(self.settings.get("fewer") or 0)
        self.mode = _Meeting(self.fewer)
        self.mode.__enter__()
        if self.fewer:
            self._shorten_loaders()

    def _shorten_loaders(self) -> None:
        following: Any = dataloader._BaseDataLoaderIter
        give, fewer, mode = following.__next__, self.fewer, self.mode

        def given(iterator: Any) -> Any:
            return tree_map(lambda x: mode.shortened(x) if _rows(x) == fewer else x, give(iterator))

        following.__next__ = given

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        held = {id(p) for group in optimizer.param_groups for p in group["params"]}
        # What lasts from step to step belongs to the columns: weights, buffers, a table made once.
        for one in self.mode.found.values():
            one["steps"] += bool(one["vectors"] and not one["vectors"] & (self.mode.before | held))
            one["vectors"] = set()
        self.mode.before, self.mode.now = set(self.mode.now), {}

    def facts(self) -> dict[str, Any]:
        kept = [
            {k: v for k, v in one.items() if k != "vectors"}
            for one in self.mode.found.values()
            if one["steps"] >= STEPS
        ]
        return {
            "widths": kept[:SHOWN],
            "refused": list(self.mode.refused.values()),
            "shortened": self.mode.count,
        }


class _Meeting(TorchFunctionMode):
    def __init__(self, fewer: int) -> None:
        super().__init__()
        self.fewer, self.count = fewer, 0
        self.found: dict[tuple[Any, ...], dict[str, Any]] = {}
        self.refused: dict[tuple[Any, ...], dict[str, Any]] = {}
        # The vectors that met rows in this step, alive so that no other gets their number, and those of the step before.
        self.now: dict[int, torch.Tensor] = {}
        self.before: set[int] = set()
        self.keys: dict[Any, Any] = {}
        self.varying: set[Any] = set()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "").strip("_")
        if self.fewer:
            return self._with_fewer(func, name, args, kwargs or {})
        if name in MEETING and len(args) == 2:
            vector = _vector(args)
            if vector is not None:
                self._note(name, args, vector)
        return func(*args, **(kwargs or {}))

    def _note(self, name: str, pair: Any, vector: int) -> None:
        one = pair[vector]
        self.now[id(one)] = one
        site = places.of_frame(sys._getframe(2), columns=True)
        if site is None:
            return
        found = self.found.setdefault(
            _key(site, name),
            {"site": site, "function": name, "operand": vector, "steps": 0, "vectors": set()},
        )
        found["vectors"].add(id(one))
        found |= {"shape": list(one.shape), "other": list(pair[1 - vector].shape)}

    def _with_fewer(self, func: Any, name: str, args: Any, kwargs: Any) -> Any:
        try:
            result = func(*args, **kwargs)
        except RuntimeError as error:
            tensors = [a for a in args[:2] if isinstance(a, torch.Tensor)]
            short = [k for k, a in enumerate(tensors) if list(a.shape) == [self.fewer - 1]]
            if name not in MEETING or len(tensors) != 2 or len(short) != 1:
                raise
            other = tensors[1 - short[0]]
            if list(other.shape) != [self.fewer - 1, self.fewer]:
                raise
            site = places.of_frame(sys._getframe(1), columns=True)
            if site is not None:
                told = {"site": site, "function": name, "operand": short[0], "message": str(error)}
                self.refused.setdefault(_key(site, name), told)
            tensors[short[0]] = tensors[short[0]].unsqueeze(-1)
            return func(*tensors, *args[2:], **kwargs)
        if name in SELECTING and _rows(result) == self.fewer < _rows(args[0]) and self._varies(args[-1]):
            return self.shortened(result)
        return result

    def _varies(self, key: Any) -> bool:
        """Whether this place has selected by another key before: what is always the same part is no batch."""
        user = next(places.user_frames(sys._getframe(2)), None)
        if user is None:
            return False
        at = (user.f_code.co_filename, user.f_lineno, user.f_lasti)
        now = checksum(key) if isinstance(key, torch.Tensor) else repr(key)
        first = self.keys.setdefault(at, now)
        if first != now:
            self.varying.add(at)
        return at in self.varying

    def shortened(self, rows: torch.Tensor) -> torch.Tensor:
        self.count += 1
        return rows[:-1]


def _vector(pair: Any) -> int | None:
    """Which of the two is a vector of as many values as the other has rows, and columns."""
    for k, one in enumerate(pair):
        other = pair[1 - k]
        if not (isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)):
            return None
        if (
            one.dim() == 1
            and other.dim() == 2
            and len(one) >= LEAST
            and len(one) == len(other) == other.shape[1]
        ):
            plain = one.is_floating_point() and not isinstance(one, torch.nn.Parameter)
            return k if plain else None
    return None


def _rows(value: Any) -> int:
    return len(value) if isinstance(value, torch.Tensor) and value.dim() else 0


def _key(site: dict[str, Any], name: str) -> tuple[Any, ...]:
    return (site["file"], site["line"], site.get("column"), site.get("end_column"), name)
