"""Writes into the data that a training reads again in its next epoch, with the line that makes them.

With ``settings["restored"]`` the stored data are after each step what they were at the start.
"""

from __future__ import annotations

import os
import sys
import zlib
from bisect import bisect_right
from types import FrameType
from typing import Any

import torch

from firstcause.lab import places, stored
from firstcause.lab.audit import Call, Watcher
from firstcause.lab.first_forward import at_first_forward

# What ``+=``, ``x[i] = y`` and the methods that end in an underscore are called, without underscores around them.
WRITES = (
    "iadd isub imul itruediv ifloordiv ipow setitem add sub mul div pow copy fill zero clamp clamp_min clamp_max clip "
    "neg abs exp log sqrt round floor normal uniform masked_fill masked_scatter index_fill index_copy index_add "
    "random exponential bernoulli lerp addcmul addcdiv relu sigmoid tanh subtract multiply divide true_divide dropout"
)
READS = ("__getitem__", "__getitems__")
SHOWN, TRACED, MOST_BYTES = 6, 3, 16_000_000


class Watch(Watcher):
    """Facts: ``written``, a place a statement: the name of the data, the share that has changed, and how often it wrote.

    ``reading`` says that it wrote while a sample was read: what a dataset hands out, not a store that the training fills.
    """

    CALLS = frozenset(WRITES.split())

    def start(self) -> None:
        self.places: dict[tuple[str, int], dict[str, Any]] = {}
        self.traced = 0
        self.digest = 0
        self.line: dict[str, Any] | None = None
        self._hold(sys._getframe(1))
        if not self.held:
            # Made by what was marked; what is written before the first forward is not seen then.
            at_first_forward(lambda: self._hold(sys._getframe(1)))

    def _hold(self, frame: FrameType | None) -> None:
        self.held = stored.find(frame)
        self.starts = [s.start for s in self.held]
        self.arrays = [s for s in self.held if not isinstance(s.value, torch.Tensor)]
        if sum(s.end - s.start for s in self.arrays) > MOST_BYTES:
            self.arrays = []
        if self.arrays:
            self._follow_reads()

    def called(self, call: Call) -> None:
        name = str(getattr(call.function, "__name__", ""))
        writes = (
            name.startswith("__i")
            or name == "__setitem__"
            or (name.endswith("_") and not name.startswith("__"))
        )
        target = call.args[0] if call.args else None
        if writes and isinstance(target, torch.Tensor) and not target.requires_grad and target.numel():
            at = target.data_ptr()
            number = bisect_right(self.starts, at) - 1
            hit = self.held[number] if number >= 0 and at < self.held[number].end else None
            if hit is not None:
                self._wrote(hit, name, places.here())

    def _wrote(self, hit: stored.Stored, name: str, site: dict[str, Any] | None) -> None:
        if site is None:
            return
        place = site["file"], site["line"]
        if place not in self.places:
            reading = _reading(sys._getframe(1))
            self.places[place] = {"site": site, "op": name, "held": hit, "times": 0, "reading": reading}
        self.places[place]["times"] += 1

    # ------------------------------------------------------------------ arrays, whose writes no mode sees

    def _follow_reads(self) -> None:
        kinds = {type(one.dataset) for one in stored.loaders()}
        for kind in kinds:
            read = getattr(kind, "__getitem__", None)
            if read is not None and places.is_user_module(sys.modules.get(kind.__module__)):
                kind.__getitem__ = self._followed(read)

    def _followed(self, read: Any) -> Any:
        main = os.getpid()

        def followed(dataset: Any, index: Any) -> Any:
            if self.traced >= TRACED or os.getpid() != main or sys.gettrace() is not None:
                return read(dataset, index)
            self.traced += 1
            self.digest, self.line = self._sum(), None
            sys.settrace(self._trace)
            try:
                return read(dataset, index)
            finally:
                sys.settrace(None)

        return followed

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not places.is_user_file(frame.f_code.co_filename):
            return None
        now = self._sum()
        if now != self.digest and self.line is not None:
            changed = next((s for s in self.arrays if s.changed() > 0), self.arrays[0])
            self._wrote(changed, "write", self.line)
        self.digest = now
        self.line = places.standing(frame)
        return self._trace

    def _sum(self) -> int:
        total = 0
        for one in self.arrays:
            total = zlib.crc32(one.value.tobytes(), total)
        return total

    # ------------------------------------------------------------------

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        if self.settings.get("restored"):
            for one in self.held:
                one.restore()

    def facts(self) -> dict[str, Any]:
        found = []
        for one in list(self.places.values())[:SHOWN]:
            held = one["held"]
            before, now = stored.size(held.first), stored.size(held.value)
            found.append(
                {
                    "site": one["site"],
                    "op": one["op"],
                    "reading": one["reading"],
                    "times": one["times"],
                    "name": held.name,
                    "array": not isinstance(held.value, torch.Tensor),
                    "changed": held.changed(),
                    "before": before,
                    "now": now,
                }
            )
        return {"written": found}


def _reading(frame: FrameType | None) -> bool:
    return any(one.f_code.co_name in READS for one in places.user_frames(frame))
