"""Rows of metrics folded into few buckets as they come: each keeps its lowest and highest finite value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

# Two values a pixel of a wide screen.
LIMIT = 1024


class Thinned:
    """At most ``limit`` buckets of equally many rows, whatever comes; a spike of one step stays visible.

    ``width`` is the number of rows in a bucket, a power of two that grows with the run.
    """

    def __init__(self, columns: Sequence[str], limit: int = LIMIT) -> None:
        self.columns = tuple(columns)
        self.width = 1
        self.rows = 0
        self.last_step = -1
        self.last_row = b""
        self._limit = limit
        self._count = 0
        self._steps: list[int] = []
        shape = (limit, len(self.columns))
        self._low: Any = np.empty(shape, np.float32)
        self._high: Any = np.empty(shape, np.float32)
        self._bad: Any = np.empty(shape, bool)
        self._open: list[bytes] = []
        self._open_step = 0

    def add(self, step: int, row: bytes) -> None:
        """Take one row of float32 values in the order of the columns."""
        if not self._open:
            self._open_step = step
        self._open.append(row)
        self.rows += 1
        self.last_step, self.last_row = step, row
        if len(self._open) == self.width:
            self._close()

    def buckets(self) -> tuple[list[int], Any, Any, Any]:
        """First step of each bucket, and by bucket and column: lowest, highest, whether one was not finite.

        Where no value of a bucket is finite, lowest and highest are NaN. The last bucket may hold fewer rows.
        """
        n = self._count
        if not self._open:
            return self._steps[:n], self._low[:n], self._high[:n], self._bad[:n]
        low, high, bad = self._folded()
        return (
            [*self._steps[:n], self._open_step],
            np.vstack([self._low[:n], low]),
            np.vstack([self._high[:n], high]),
            np.vstack([self._bad[:n], bad]),
        )

    def _folded(self) -> tuple[Any, Any, Any]:
        block = np.frombuffer(b"".join(self._open), np.float32).reshape(len(self._open), len(self.columns))
        finite = np.isfinite(block)
        if finite.all():
            return block.min(axis=0), block.max(axis=0), np.zeros(len(self.columns), bool)
        kept = np.where(finite, block, np.float32("nan"))
        # fmin and fmax pass over NaN, and give it only where there is nothing else.
        return np.fmin.reduce(kept), np.fmax.reduce(kept), ~finite.all(axis=0)

    def _close(self) -> None:
        if self._count == self._limit:
            self._merge()
            if len(self._open) < self.width:
                return
        n = self._count
        self._low[n], self._high[n], self._bad[n] = self._folded()
        self._steps.append(self._open_step)
        self._count += 1
        self._open.clear()

    def _merge(self) -> None:
        half = self._limit // 2
        pairs = (half, 2, len(self.columns))
        self._low[:half] = np.fmin.reduce(self._low.reshape(pairs), axis=1)
        self._high[:half] = np.fmax.reduce(self._high.reshape(pairs), axis=1)
        self._bad[:half] = self._bad.reshape(pairs).any(axis=1)
        self._steps = self._steps[::2]
        self._count = half
        self.width *= 2
