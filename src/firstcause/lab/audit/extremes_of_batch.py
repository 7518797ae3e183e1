"""A minimum or maximum that is taken over the samples of a batch, where each sample has several values to choose from.

``settings["across"]``, a list of [file, line], has it taken over the values of each sample there.
"""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from firstcause.lab import places
from firstcause.lab.audit import Call, Watcher

EXTREMES = frozenset({"min", "max", "amin", "amax"})
# As many values as a sample may choose from; fewer samples are no batch.
MOST_VALUES, LEAST_SAMPLES = 64, 4
ACROSS = 1


class Across(TorchFunctionMode):
    """Between ``__enter__`` and ``__exit__``, those at some lines go along the other axis. Sealed child only."""

    def __init__(self, lines: frozenset[tuple[str, int]]) -> None:
        super().__init__()
        self.lines = lines

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if str(getattr(func, "__name__", "")) in EXTREMES and _is_over_batch(args, kwargs):
            site = places.of_frame(sys._getframe(1), columns=True)
            if site is not None and (site["file"], site["line"]) in self.lines:
                args, kwargs = args[:1], {**kwargs, "dim": ACROSS}
        return func(*args, **kwargs)


def _is_over_batch(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call reduces the first axis alone of samples by values."""
    given = args[0] if args else None
    axis = kwargs.get("dim", args[1] if len(args) > 1 else None)
    if not isinstance(given, torch.Tensor) or not isinstance(axis, int) or given.dim() < 2:
        return False
    samples, values = given.shape[:2]
    # Samples against each other, as in the mining of triplets, go either way.
    square = samples == values
    return axis in (0, -given.dim()) and samples >= LEAST_SAMPLES and 1 < values <= MOST_VALUES and not square


class Watch(Watcher):
    """In the facts ``extremes``: each such call; the column ``nearest`` is what the other axis gives, on average."""

    CALLS = EXTREMES

    def start(self) -> None:
        self.seen: dict[tuple[str, int], dict[str, Any]] = {}
        self.nearest: list[float] = []
        self.batch = 0
        self.lines = frozenset((f, n) for f, n in self.settings.get("across") or ())
        if self.lines:
            self.across = Across(self.lines)
            self.across.__enter__()

    def ran(self, module: torch.nn.Module, args: tuple[Any, ...], result: Any) -> None:
        given = next((a for a in args if isinstance(a, torch.Tensor) and a.dim()), None)
        if given is not None:
            self.batch = given.shape[0]

    def called(self, call: Call) -> None:
        given = call.args[0] if call.args else None
        if not isinstance(given, torch.Tensor) or not given.requires_grad or not given.is_floating_point():
            return
        site = places.of_frame(sys._getframe(1), columns=True)
        key = (site["file"], site["line"]) if site is not None else ("", 0)
        if key not in self.lines and (site is None or not _is_over_batch(call.args, call.kwargs)):
            return
        with torch.no_grad():
            other = getattr(torch, f"a{call.name.removeprefix('a')}")(given, dim=ACROSS)
            self.nearest.append(float(other.mean()))
        if key in self.lines:
            return
        start = {"site": site, "function": call.name, "shape": list(given.shape), "times": 0, "of_batch": 0}
        found = self.seen.setdefault(key, start | {"used": 0, "reached": 0.0, "lowered": 0})
        found["times"] += 1
        found["of_batch"] += int(given.shape[0] == self.batch)
        given.register_hook(lambda gradient: _arrived(found, gradient))

    def figures(self) -> dict[str, Any]:
        taken, self.nearest = self.nearest, []
        return {"nearest": sum(taken) / len(taken)} if taken else {}

    def facts(self) -> dict[str, Any]:
        return {"extremes": list(self.seen.values())}


def _arrived(found: dict[str, Any], gradient: torch.Tensor) -> None:
    """How many of the samples a gradient reaches, and whether it makes the values smaller."""
    rows = gradient.detach().flatten(1)
    found["used"] += 1
    found["reached"] = max(found["reached"], float(rows.any(1).float().mean()))
    found["lowered"] += int(bool((rows >= 0).all()))
