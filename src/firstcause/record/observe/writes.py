"""Which parameters a pass writes before its optimizer's step: told by their version counters.

A codebook that revives its dead codes, a critic whose weights are clipped: a replay must find them as at the mark.
"""

from __future__ import annotations

import weakref
from collections.abc import Collection

import torch

# To read the counters costs a miss of the processor's cache for each parameter. After so many passes in which the
# counters grew alike from step to step, they are read at the step alone, until they do not.
ALIKE = 16
# Parameters whose counters grew in another way, at a step without a reading at its mark: copied if not larger, and if
# most others grew as ever. (Where all did not, a step was left out, or was taken where nothing is observed.)
SMALL_BYTES = 4 << 20


def counts_writes(tensor: torch.Tensor | None) -> bool:
    """Whether a module's entry is a tensor, and none that was made in inference mode."""
    return tensor is not None and not tensor.is_inference()


class Writes:
    """The parameters of a program, held weakly, and those of them that a pass was seen to write."""

    def __init__(self) -> None:
        self.written: set[int] = set()
        self._followed: list[weakref.ref[torch.Tensor]] = []
        self._at_mark: list[int] | None = None
        self._last: list[int] = []
        self._before_last: list[int] = []
        self._growth = self._alike = 0
        self._irregular = False

    @property
    def parameters(self) -> list[torch.Tensor]:
        return [p for r in self._followed if (p := r()) is not None]

    def follow(self, parameters: Collection[torch.Tensor]) -> None:
        """The parameters that the program has now; what was counted goes on where they are the same."""
        if list(map(id, parameters)) != list(map(id, self.parameters)):
            self._followed = [weakref.ref(p) for p in parameters]
            self._at_mark, self._last, self._before_last, self._alike = None, [], [], 0

    def at_mark(self) -> None:
        self._at_mark = self._versions() if self._alike < ALIKE or self._irregular else None

    def at_step(self) -> None:
        """Learn what was written since the mark."""
        now, then = self._versions(), self._at_mark
        self._at_mark = None
        growth = sum(now) - sum(self._last)
        alike = growth == self._growth and len(now) == len(self._last)
        if then is not None:
            if now != then:
                self.written |= set(map(id, self._grown(then, now, [0] * len(now))))
        elif self._alike >= ALIKE and not alike:
            # It may as well have been written before the mark: to copy it is never wrong, but not for nothing.
            self._irregular = True
            usual = [b - a for a, b in zip(self._before_last, self._last, strict=False)]
            found = self._grown(self._last, now, usual)
            if 2 * len(found) <= len(now) and sum(p.nbytes for p in found) <= SMALL_BYTES:
                self.written |= set(map(id, found))
        self._growth, self._alike = growth, self._alike + 1 if alike else 0
        self._before_last, self._last = self._last, now

    def _grown(self, then: list[int], now: list[int], usual: list[int]) -> list[torch.Tensor]:
        """The parameters whose counters grew by another number than usual; none where they are not the same ones."""
        held = self.parameters
        if not len(held) == len(then) == len(now) == len(usual):
            return []
        return [p for p, v, w, u in zip(held, then, now, usual, strict=True) if w - v != u]

    def _versions(self) -> list[int]:
        return [p._version for r in self._followed if (p := r()) is not None]
