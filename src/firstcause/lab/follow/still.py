"""Sources of chance held still before a program begins: what it seeds itself afterwards is as it was."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Sequence
from typing import Any

import torch

SEED = 20_240_229


def hold(sources: Sequence[str]) -> None:
    """Seed the generators that are named, seed those that are made without a seed, or stop the clock.

    The order of sets of strings is none of these: it is Python's own setting, and no call.
    """
    for source in sources:
        if source == "python":
            random.seed(SEED)
        elif source == "numpy":
            import numpy

            numpy.random.seed(SEED)
        elif source == "torch":
            torch.manual_seed(SEED)
        elif source == "generators":
            _generators()
        elif source == "clock":
            _clock()


def _generators() -> None:
    import numpy

    default = numpy.random.default_rng
    made = iter(range(SEED, 2 * SEED))

    def seeded(seed: Any = None) -> Any:
        return default(next(made) if seed is None else seed)

    numpy.random.default_rng = seeded

    class Random(random.Random):
        def __init__(self, x: Any = None) -> None:
            super().__init__(next(made) if x is None else x)

    random.Random = Random  # type: ignore[misc]
    os.urandom = lambda size: random.Random(next(made)).randbytes(size)
    torch.seed = lambda: int(torch.manual_seed(next(made)).initial_seed())


def _clock() -> None:
    begun, ticks = 1_700_000_000.0, iter(range(1 << 60))
    time.time = lambda: begun + 1e-3 * next(ticks)
    time.time_ns = lambda: int(1e9 * begun) + 1_000_000 * next(ticks)
