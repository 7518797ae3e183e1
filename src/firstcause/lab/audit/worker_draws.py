"""What random numbers the workers of a loader would draw: each worker's first samples, made in a process of its own.

A sealed process starts no workers. A fork of it stands for one: with its random numbers, its ``worker_init_fn`` and the
copy of the dataset that a worker would have, it fetches what would be its first batches, and is gone.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any

import torch
from torch.utils.data import IterableDataset, _DatasetKind

from firstcause.lab.audit import Watcher
from firstcause.lab.generators import generators, held_by, next_number, owner_of, state
from firstcause.lab.kept_results import digest
from firstcause.lab.loaders import Course, Loaders
from firstcause.lab.loading.child import Child
from firstcause.lab.loading.workers import Draws, base_seed
from firstcause.record.observe import rng
from firstcause.record.observe.unstarted import asked_of

EPOCHS, WORKERS, FETCHES = 3, 4, 2
# Seconds for one worker, and for all of an audit: what takes longer is not looked at.
ONE, ALL = 3.0, 12.0


class Watch(Watcher):
    """Facts: ``draws``, a generator each that begins alike in several workers, or in one worker in two epochs."""

    def start(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.left = ALL
        # The generators that a dataset held when its loader was first begun, and after the last step on its batches.
        self.first: dict[int, dict[str, Any]] = {}
        self.last: dict[int, dict[str, str]] = {}
        self.loaders = Loaders(self._beginning)

    def _beginning(self, course: Course) -> None:
        asked = asked_of(course.loader)
        if not asked.workers or course.begun > EPOCHS or (asked.persistent and course.begun > 1):
            return
        held = dict(held_by(course.loader.dataset))
        untouched = course.begun > 1 and self.last.get(course.number) == {
            n: state(g) for n, g in held.items()
        }
        states = self.first.setdefault(
            course.number, {n: copy.deepcopy(rng.state_of(g)) for n, g in held.items()}
        )
        # In a later epoch a worker would begin as in the first one, unless the program has changed the dataset between.
        put_back = states if untouched else {}
        for worker in range(min(asked.workers, WORKERS) if course.begun == 1 else 1):
            began = time.monotonic()
            if self.left <= 0:
                return
            child = Child(partial(_work, course, worker, asked.workers, put_back))
            told = list(child.answers(ONE, began + min(ONE, self.left)))
            self.rows += [t for t in told if "states" in t]
            self.left -= time.monotonic() - began

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.loaders.stepped()
        current = self.loaders.current
        if current is not None and current.begun < EPOCHS and current.number in self.first:
            held = held_by(current.loader.dataset)
            self.last[current.number] = {n: state(g) for n, g in held}

    def facts(self) -> dict[str, Any]:
        found = []
        for course in self.loaders.trained():
            own = [r for r in self.rows if r["loader"] == course.number]
            for one in _alike(own):
                owner, kind = owner_of(course.loader.dataset, one["name"])
                found.append(
                    one
                    | {
                        "workers": asked_of(course.loader).workers,
                        "owner": owner,
                        "kind": kind,
                        "own_init": course.loader.worker_init_fn is not None,
                        "site": course.site,
                    }
                )
        return {"draws": found}


def _work(course: Course, worker: int, workers: int, put_back: dict[str, Any], child: Child) -> None:
    """In the child: what this worker fetches first, and the generators before and after."""
    loader = course.loader
    dataset = loader.dataset
    for name, generator in held_by(dataset):
        if name in put_back:
            rng.set_state_of(generator, put_back[name])
    base = base_seed(loader)
    batches = islice(iter(loader._index_sampler), worker, worker + FETCHES * workers, workers)
    with Draws(dataset, workers, base).as_worker(worker, loader.worker_init_fn):
        # As a list: a batch of tensors would be made in shared memory, which a sealed process may not have.
        fetcher = _DatasetKind.create_fetcher(
            loader._dataset_kind, dataset, loader._auto_collation, list, loader.drop_last
        )
        for number, indices in enumerate(batches):
            before = {n: state(g) for n, g in generators(dataset)}
            samples = fetcher.fetch(indices)
            after = dict(generators(dataset))
            child.tell(
                {
                    "loader": course.number,
                    "epoch": course.begun,
                    "worker": worker,
                    "fetch": number,
                    # Workers of a stream may share it among them and draw alike only to shuffle their shares.
                    "samples": digest(samples) if isinstance(dataset, IterableDataset) else 0,
                    "states": {n: s for n, s in before.items() if n in after and state(after[n]) != s},
                    "next": {n: next_number(g) for n, g in after.items()},
                }
            )


def _alike(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Generators that are drawn from, in the same state in two workers of an epoch or in two epochs of a worker."""
    for name in sorted({n for r in rows for n in r["states"]}):
        # A generator that is made at the first fetch is not there before it.
        for fetch in range(FETCHES):
            at = {(r["epoch"], r["worker"]): r for r in rows if r["fetch"] == fetch and name in r["states"]}
            states = {k: r["states"][name] for k, r in at.items()}
            first = [k for k in states if k[0] == min(k[0] for k in states)]
            samples = {at[k]["samples"] for k in first}
            if (
                len(first) > 1
                and len({states[k] for k in first}) == 1
                and len(samples) == 1
                and None not in samples
            ):
                yield {
                    "name": name,
                    "alike": "workers",
                    "number": len(first),
                    "drawn": [at[k]["next"].get(name) for k in first],
                }
                break
            same = [k for k in states if k[1] == 0]
            if len(same) > 1 and len({states[k] for k in same}) == 1:
                yield {
                    "name": name,
                    "alike": "epochs",
                    "number": len(same),
                    "drawn": [at[k]["next"].get(name) for k in same],
                }
                break
