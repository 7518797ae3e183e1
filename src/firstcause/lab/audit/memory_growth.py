"""Tensors and graph that pile up from step to step, who holds them, and the statement that feeds the holder.

With ``settings["released"]`` what the holder holds is let go of from then on (a graph is cut, a container is emptied):
the growth must stop there, if it is the holder's.
"""

from __future__ import annotations

import traceback
from itertools import pairwise
from typing import Any

import torch

from firstcause.lab import holding
from firstcause.lab.audit import Watcher
from firstcause.lab.feeding import Feeding
from firstcause.lab.live import Live, Sample, nodes, resident

# Optimizer state, averages and lazy buffers are born in the first steps.
WARM = 3
LEAST_SAMPLES, MOST_SAMPLES = 8, 24
SEARCHES = 3
TRIED = 4
# Two samples of ten may be level: a held value that is replaced, or a step without one.
RISING = 0.8


class Watch(Watcher):
    """Facts: ``growth`` with its samples, the kind, the holder and the statement; empty where nothing grows."""

    # A pass over all objects is worth its time only where the process has grown by so many bytes since its first steps.
    LEAST_GROWN = 1 << 20

    def start(self) -> None:
        self.live, self.samples = Live(), list[Sample]()
        self.steps, self.every, self.searches = 0, 1, 0
        self.chain: holding.Chain | None = None
        self.kind = ""
        self.shape: list[int] = []
        self.feeding: Feeding | None = None
        self.loss_nodes: list[int] = []
        self.least: int | None = None
        self.released_at: int | None = None
        self.after: list[Sample] = []

    def loss(self, value: torch.Tensor) -> None:
        if self.samples and self.steps % self.every == 0:
            self.loss_nodes.append(nodes([value]))

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.steps += 1
        if self.feeding is not None:
            self.feeding.end()
        if self.released_at is not None:
            self._release()
        if self.steps < WARM or self.steps % self.every:
            return
        now = resident()
        self.least = now if self.least is None else min(self.least, now)
        if not self.samples and now - self.least < self.LEAST_GROWN:
            return
        sample = self.live.sample(self.steps)
        if self.released_at is not None:
            self.after.append(sample)
            return
        self.samples.append(sample)
        if self.chain is None and len(self.samples) >= LEAST_SAMPLES and self.searches < SEARCHES:
            self._search()
        elif self.feeding is not None and self.feeding.site is None:
            self.feeding.begin()
        if self.chain is not None and self.settings.get("released"):
            self.released_at = self.steps
        elif len(self.samples) > MOST_SAMPLES:
            self.samples, self.every = self.samples[1::2], 2 * self.every

    def _search(self) -> None:
        """The holder of what has grown so far; the graph first, since a graph holds tensors that nobody else knows."""
        if rises([s.nodes for s in self.samples]):
            # What a step makes anew from the step before holds the whole graph by itself, and is never old.
            whole = self.samples[-1].nodes
            now = (t for t in self.live.tensors() if t.grad_fn is not None)
            self.kind, targets = (
                "graph",
                [*middle(self.live.roots()), *(t for t in now if nodes([t]) >= whole / 2)],
            )
        elif rises([s.bytes for s in self.samples]):
            self.kind, targets = "tensors", middle([t for t in self.live.old() if t.grad_fn is None])
        else:
            return
        self.searches += 1
        for target in targets[:TRIED]:
            self.chain = holding.chain_to(target)
            if self.chain is not None:
                self.shape = list(target.shape)
                break
        if self.chain is not None and self.chain.container is not None:
            self.feeding = Feeding(self.chain.container)
            self.feeding.begin()

    def _release(self) -> None:
        assert self.chain is not None
        held = self.chain.outer
        if self.chain.exception is not None:
            for error in _values(held):
                if isinstance(error, BaseException):
                    traceback.clear_frames(error.__traceback__)
        elif self.kind == "tensors" and hasattr(held, "clear"):
            held.clear()
        else:
            for tensor in _values(held):
                if isinstance(tensor, torch.Tensor) and tensor.grad_fn is not None and not tensor._is_view():
                    tensor.detach_()

    def facts(self) -> dict[str, Any]:
        if self.chain is None:
            return {}
        chain = self.chain
        growth = {
            "kind": self.kind,
            "samples": [vars(s) for s in self.samples],
            "after": [vars(s) for s in self.after],
            "released_at": self.released_at,
            "loss_grows": rises(self.loss_nodes),
            "shape": self.shape,
            "expression": chain.expression,
            "name": chain.name,
            "root": chain.root,
            "file": chain.file,
            "function": chain.function,
            "exception": chain.exception,
            "container": type(chain.container).__name__ if chain.container is not None else None,
            "bounded": getattr(chain.container, "maxlen", None) is not None,
            "site": self.feeding.site if self.feeding is not None else None,
        }
        return {"growth": growth}


def middle(found: list[torch.Tensor]) -> list[torch.Tensor]:
    """Some from the middle on: the oldest may be there for another reason, and the newest are not held yet."""
    return found[len(found) // 2 :][:TRIED]


def rises(values: list[int]) -> bool:
    """Whether a series rises through its second half, from above its first: what is emptied at each epoch does not."""
    head, tail = values[: len(values) // 2], values[len(values) // 2 :]
    if len(tail) < LEAST_SAMPLES // 2:
        return False
    ups = sum(b > a for a, b in pairwise(tail)) / (len(tail) - 1)
    falls = any(b < a for a, b in pairwise(tail))
    return ups >= RISING and not falls and tail[0] >= max(head) and tail[-1] > values[0]


def _values(held: Any, depth: int = 3) -> list[Any]:
    """What a container holds, containers in it included."""
    if isinstance(held, dict):
        held = list(held.values())
    if not isinstance(held, holding.CONTAINERS) or not depth:
        return []
    inner = [_values(v, depth - 1) if isinstance(v, holding.CONTAINERS) else [v] for v in list(held)]
    return [v for values in inner for v in values]
