"""The random numbers and the worker's number that a worker of a loader would have, in this process."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils.data._utils import worker as torch_worker

from firstcause.record.observe import rng


class Draws:
    """The states of the process's generators, one set a worker; ``as_worker`` goes on from a worker's own."""

    def __init__(self, dataset: Any, workers: int, base: int) -> None:
        self.dataset, self.workers, self.base = dataset, workers, base
        self.states: dict[int, Any] = {}

    @contextmanager
    def as_worker(self, number: int, begin: Any = None, named: bool = True) -> Iterator[None]:
        """Inside, this is worker ``number``; ``begin`` is the loader's ``worker_init_fn``. Nothing is changed without workers.

        Whoever is ``named`` a worker gets its batches in shared memory, which a sealed process may not make.
        """
        if not self.workers:
            yield
            return
        mine, info = rng.global_state(), torch_worker._worker_info
        if named:
            torch_worker._worker_info = torch_worker.WorkerInfo(
                id=number, num_workers=self.workers, seed=self.base + number, dataset=self.dataset
            )
        try:
            if number in self.states:
                rng.set_global_state(self.states[number])
            else:
                _seed(self.base, number)
                if begin is not None:
                    begin(number)
            yield
            self.states[number] = rng.global_state()
        finally:
            rng.set_global_state(mine)
            torch_worker._worker_info = info


def base_seed(loader: Any) -> int:
    """The seed that the loader would draw for its workers now."""
    return int(torch.empty((), dtype=torch.int64).random_(generator=loader.generator).item())


def _seed(base: int, number: int) -> None:
    random.seed(base + number)
    torch.manual_seed(base + number)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(torch_worker._generate_state(base, number))
