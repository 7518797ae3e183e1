"""What random numbers the workers of a loader draw: the states of their generators at each fetch, told through a pipe."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import os
import pickle
import random
import sys
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils import data

from firstcause.lab.audit import Watcher
from firstcause.lab.loaders import Loaders

EPOCHS, FETCHES, DEPTH = 3, 3, 3


class Watch(Watcher):
    """Facts: ``draws``, a generator each that begins alike in several workers, or in one worker in two epochs."""

    def start(self) -> None:
        self.loaders = Loaders()
        self.epoch = 0
        self.out, self.into = os.pipe()
        os.set_blocking(self.out, False)
        os.set_blocking(self.into, False)
        worker: Any = data._utils.worker
        loop = worker._worker_loop

        def told(*args: Any, **kwargs: Any) -> Any:
            # In the worker: its process is this one's fork, and its fetchers are its own.
            current = self.loaders.current
            if current is not None and current.begun <= EPOCHS:
                for kind in (data._utils.fetch._MapDatasetFetcher, data._utils.fetch._IterableDatasetFetcher):
                    self._follow(kind, args[1], [current.number, current.begun])
            return loop(*args, **kwargs)

        worker._worker_loop = told

    def _follow(self, kind: Any, dataset: Any, where: list[int]) -> None:
        fetch, done = kind.fetch, [0]

        def fetched(fetcher: Any, indices: Any) -> Any:
            before = {n: _state(g) for n, g in generators(dataset)} if done[0] < FETCHES else {}
            batch = fetch(fetcher, indices)
            if done[0] < FETCHES:
                after = dict(generators(dataset))
                info = data.get_worker_info()
                self._write(
                    {
                        "loader": where[0],
                        "epoch": where[1],
                        "worker": info.id if info is not None else 0,
                        "fetch": done[0],
                        "states": {n: s for n, s in before.items() if n in after and _state(after[n]) != s},
                        "next": {n: _next(g) for n, g in after.items()},
                    }
                )
                done[0] += 1
            return batch

        kind.fetch = fetched

    def _write(self, row: dict[str, Any]) -> None:
        # A full pipe: what was told before is enough.
        with contextlib.suppress(BlockingIOError):
            os.write(self.into, (json.dumps(row) + "\n").encode())

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.loaders.stepped()

    def facts(self) -> dict[str, Any]:
        text = b""
        with contextlib.suppress(BlockingIOError):
            while part := os.read(self.out, 65536):
                text += part
        rows = [json.loads(line) for line in text.decode().splitlines() if line.endswith("}")]
        found = []
        for course in self.loaders.trained():
            own = [r for r in rows if r["loader"] == course.number]
            for one in _alike(own):
                owner, kind = _owner(course.loader.dataset, one["name"])
                found.append(
                    one
                    | {
                        "workers": course.loader.num_workers,
                        "owner": owner,
                        "kind": kind,
                        "own_init": course.loader.worker_init_fn is not None,
                        "site": course.site,
                    }
                )
        return {"draws": found}


def _alike(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Generators that are drawn from, in the same state in two workers of an epoch or in two epochs of a worker."""
    for name in sorted({n for r in rows for n in r["states"]}):
        # A generator that is made at the first fetch is not there before it.
        for fetch in range(FETCHES):
            at = {(r["epoch"], r["worker"]): r for r in rows if r["fetch"] == fetch and name in r["states"]}
            states = {k: r["states"][name] for k, r in at.items()}
            first = [k for k in states if k[0] == min(k[0] for k in states)]
            if len(first) > 1 and len({states[k] for k in first}) == 1:
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


def generators(dataset: Any) -> list[tuple[str, Any]]:
    """The process's own generators and those that a dataset holds, by the path of attributes that leads to them."""
    found: list[tuple[str, Any]] = [("random", random)]
    if "numpy" in sys.modules:
        found.append(("numpy.random", sys.modules["numpy"].random))
    return found + list(_held(dataset, "", DEPTH, set()))


def _held(value: Any, path: str, depth: int, seen: set[int]) -> Iterator[tuple[str, Any]]:
    if id(value) in seen or isinstance(value, (torch.nn.Module, torch.Tensor)):
        return
    seen.add(id(value))
    if _is_generator(value):
        yield path, value
    elif isinstance(value, (list, tuple)) and len(value) < 32:
        for number, one in enumerate(value):
            yield from _held(one, f"{path}[{number}]", depth - 1, seen)
    elif depth and hasattr(value, "__dict__") and not isinstance(value, type):
        for key, one in vars(value).items():
            yield from _held(one, f"{path}.{key}".lstrip("."), depth - 1, seen)


def _is_generator(value: Any) -> bool:
    kind = type(value)
    return isinstance(value, (torch.Generator, random.Random)) or (
        kind.__module__.startswith("numpy.random") and kind.__name__ in ("Generator", "RandomState")
    )


def _state(generator: Any) -> str:
    if isinstance(generator, torch.Generator):
        raw = generator.get_state().numpy().tobytes()
    elif hasattr(generator, "getstate"):
        raw = pickle.dumps(generator.getstate())
    else:
        raw = pickle.dumps(
            generator.get_state() if hasattr(generator, "get_state") else generator.bit_generator.state
        )
    return hashlib.blake2b(raw, digest_size=8).hexdigest()


def _next(generator: Any) -> float | None:
    """The number that a generator would give next, drawn from a copy of it."""
    if isinstance(generator, torch.Generator):
        twin = torch.Generator()
        twin.set_state(generator.get_state())
        return round(float(torch.rand((), generator=twin)), 6)
    if _is_generator(generator):
        return round(float(copy.deepcopy(generator).random()), 6)
    return None


def _owner(dataset: Any, path: str) -> tuple[str, str]:
    """The class that holds a generator, and the generator's own class; empty for the process's own."""
    held = dict(generators(dataset)).get(path)
    if held is None or not _is_generator(held):
        return "", ""
    value = dataset
    for part in path.split(".")[:-1]:
        value = getattr(value, part.split("[")[0], value)
    return type(value).__name__, type(held).__name__
