"""Tensors in bfloat16 that little by little is added to, such as averages of weights: how much of it rounding takes away.

bfloat16 keeps 8 bits: what is added to a value and is smaller than about 1/512 of it leaves it as it is, however often.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator
from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.audit import Call, Watcher
from firstcause.lab.optimizers import Optimizers

MOST_BYTES, MOST_PLACES = 200_000_000, 20
LISTS = "foreach_"
IN_PLACE = frozenset({"iadd", "isub", "imul", "add", "sub", "mul", "lerp"})


class Watch(Watcher):
    """Facts: ``rounded``, a place a statement: what was to be added in all, what has been, in sums of sizes, and how often."""

    CALLS = IN_PLACE | frozenset(f"{LISTS}{name}" for name in ("add", "sub", "lerp", "mul"))

    def start(self) -> None:
        # By identity: the tensor, weakly, its values after its last change, and its version then.
        self.held: dict[int, tuple[weakref.ref[torch.Tensor], torch.Tensor, int]] = {}
        self.bytes = 0
        self.optimizers = Optimizers()
        self.places: dict[tuple[str, int, str], dict[str, Any]] = {}

    def called(self, call: Call) -> None:
        given = call.args[0] if call.args else None
        one = given[0] if isinstance(given, (list, tuple)) and given else given
        if not isinstance(one, torch.Tensor) or one.dtype is not torch.bfloat16:
            return
        name = str(getattr(call.function, "__name__", ""))
        if not name.endswith("_") or torch.is_grad_enabled():
            return
        with torch.no_grad(), torch._C.DisableTorchFunction():
            for tensor, change in _changes(call.name, call.args, call.kwargs):
                self._note(call.name, tensor, change)

    def _note(self, name: str, tensor: torch.Tensor, change: Any) -> None:
        known = self.held.get(id(tensor))
        if known is not None and id(known[0]()) == id(tensor) and tensor._version == known[2] + 1:
            before = known[1]
            wanted = change(before.double())
            kept = tensor.double() - before.double()
            self._count(name, tensor, float(wanted.abs().sum()), float(kept.abs().sum()))
        if known is None or id(known[0]()) != id(tensor):
            self.bytes += tensor.nbytes
        if self.bytes <= MOST_BYTES:
            self.held[id(tensor)] = weakref.ref(tensor), tensor.clone(), tensor._version

    def _count(self, name: str, tensor: torch.Tensor, wanted: float, kept: float) -> None:
        site = places.of_frame(sys._getframe(3), columns=True)
        if site is None or not wanted < float("inf"):
            return
        key = (site["file"], site["line"], name)
        if key not in self.places and len(self.places) >= MOST_PLACES:
            return
        one = self.places.setdefault(
            key, {"site": site, "op": name, "wanted": 0.0, "kept": 0.0, "times": {}, "elements": {}}
        )
        one["wanted"] += wanted
        one["kept"] += kept
        one["times"][id(tensor)] = one["times"].get(id(tensor), 0) + 1
        one["elements"][id(tensor)] = tensor.numel()

    def facts(self) -> dict[str, Any]:
        # Weights that are trained are told by themselves (``bf16-rounding``'s own experiment).
        trained = self.optimizers.held()
        found = []
        for one in self.places.values():
            times = {k: n for k, n in one["times"].items() if k not in trained}
            if times:
                elements = sum(n for k, n in one["elements"].items() if k in times)
                counts = {"times": max(times.values()), "tensors": len(times), "elements": elements}
                found.append(one | counts)
        return {"rounded": found}


def _changes(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[torch.Tensor, Any]]:
    """Each tensor that a call has changed, and what was to be added to it, as a function of its values before."""
    if not name.startswith(LISTS):
        one = _change(name.removeprefix("i"), args[1:], kwargs)
        if one is not None:
            yield args[0], one
        return
    for number, tensor in enumerate(args[0]):
        rest = [a[number] if isinstance(a, (list, tuple)) else a for a in args[1:]]
        one = _change(name.removeprefix(LISTS), rest, kwargs)
        if one is not None:
            yield tensor, one


def _change(name: str, rest: Any, kwargs: dict[str, Any]) -> Any:
    other = rest[0] if rest else kwargs.get("other", kwargs.get("end"))
    if other is None:
        return None
    if name in ("add", "sub"):
        scale = float(kwargs.get("alpha", rest[1] if len(rest) > 1 else 1.0)) * (
            -1.0 if name == "sub" else 1.0
        )
        return lambda before: scale * _wide(other).expand_as(before)
    if name == "mul":
        return lambda before: before * (_wide(other) - 1.0)
    weight = rest[1] if len(rest) > 1 else kwargs.get("weight")
    return None if weight is None else lambda before: _wide(weight) * (_wide(other) - before)


def _wide(value: Any) -> torch.Tensor:
    return (
        value.double() if isinstance(value, torch.Tensor) else torch.tensor(float(value), dtype=torch.float64)
    )
