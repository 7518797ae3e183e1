"""Tensors, graph and host objects that pile up from step to step, who holds them, and the statement that feeds the holder.

With ``settings["released"]`` what the holder holds is let go of from then on (``lab/hollow``): the growth must stop there,
if it is the holder's.
"""

from __future__ import annotations

from typing import Any

import torch

from firstcause.lab import holding, piles, places
from firstcause.lab.audit import Watcher
from firstcause.lab.feeding import Feeding
from firstcause.lab.hollow import hollow
from firstcause.lab.live import MOST_NODES, Live, Sample, nodes, resident
from firstcause.lab.reaching import CACHED, CONTAINERS
from firstcause.lab.rising import LEAST, climbs, rises

# Optimizer state, averages and lazy buffers are born in the first steps.
WARM = 3
MOST_SAMPLES = 24
SEARCHES = 4
MOST_TARGETS = 200


class Watch(Watcher):
    """Facts: ``growth`` with its samples, the kind, the holder and the statement; empty where nothing grows."""

    # A pass over all objects is worth its time only where the process has grown by so many bytes since its first steps.
    LEAST_GROWN = 1 << 20

    def start(self) -> None:
        self.live, self.samples = Live(), list[Sample]()
        self.steps, self.every, self.searches = 0, 1, 0
        self.holder: holding.Holder | None = None
        self.kind = ""
        self.shape: list[int] = []
        self.single = self.bounded = False
        self.container: str | None = None
        self.cache: dict[str, Any] | None = None
        self.feeding: Feeding | None = None
        self.evaluating = self.fed_at_evaluation = False
        self.loss_nodes: list[int] = []
        self.piles = piles.Piles()
        self.least: int | None = None
        # Whether the graph has grown beyond what is counted: more samples would only show the end of the counting.
        self.beyond = False
        self.released_at: int | None = None
        self.after: list[Sample] = []

    def ran(self, module: torch.nn.Module, args: tuple[Any, ...], result: Any) -> None:
        # The outermost module returns last.
        self.evaluating = not module.training

    def loss(self, value: torch.Tensor) -> None:
        if self.samples and self.steps % self.every == 0:
            self.loss_nodes.append(nodes([value]))

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.steps += 1
        if self.feeding is not None:
            self.feeding.end()
        if self.released_at is not None:
            self._release()
        if self.steps >= WARM and self.steps % self.every == 0:
            self._sample()
        if self.feeding is not None and self.released_at is None:
            self.feeding.begin()

    def _sample(self) -> None:
        now = resident()
        self.least = now if self.least is None else min(self.least, now)
        if (not self.samples and now - self.least < self.LEAST_GROWN) or self.beyond:
            return
        sample = self.live.sample(self.steps)
        if self.released_at is not None:
            self.after.append(sample)
            return
        if self.kind == "graph" and self.holder is not None and sample.nodes >= MOST_NODES:
            self.beyond = self._rises()
            return
        self.samples.append(sample)
        if self.holder is None and len(self.samples) >= LEAST and self.searches < SEARCHES:
            self._search()
        if self.holder is not None and self.settings.get("released"):
            self.released_at = self.steps
        elif len(self.samples) > MOST_SAMPLES:
            self.samples, self.every = self.samples[1::2], 2 * self.every

    def _search(self) -> None:
        """The holder of what has grown so far; the graph first, since a graph holds tensors that nobody else knows."""
        if self._rises("graph"):
            roots = self.live.roots()[:MOST_TARGETS]
            self._found("graph", roots, self.live.accumulated(), self.live.carried())
        elif self._rises("tensors"):
            self._found("tensors", [t for t in self.live.old() if t.grad_fn is None][:MOST_TARGETS])
        elif self._rises("host"):
            self._found("host", self.piles.grown())

    def _rises(self, kind: str = "") -> bool:
        """Whether the samples so far grow in a way; what was found early may have come to its end since."""
        kind = kind or self.kind
        if kind == "host":
            return climbs([s.resident for s in self.samples])
        return rises([s.nodes if kind == "graph" else s.bytes for s in self.samples])

    def _found(self, kind: str, *targets: list[Any]) -> None:
        self.searches += 1
        self.kind = kind
        for some in targets:
            self.holder = holding.holder_of(some) if some else None
            if self.holder is not None:
                self.shape = list(getattr(some[0], "shape", []))
                break
        if self.holder is None:
            return
        held = self.holder.now()
        # A tensor, or the two of an LSTM, that each step replaces.
        self.single = isinstance(held, torch.Tensor) or type(held) is tuple
        self.container = type(held).__name__ if issubclass(type(held), (*CONTAINERS, dict)) else None
        self.bounded = getattr(held, "maxlen", None) is not None
        if type(held) is CACHED:
            self.bounded = False
            self.cache = _decorated(held)
        self.feeding = Feeding(self.holder.now, self._fed)

    def _fed(self) -> None:
        self.fed_at_evaluation = self.evaluating

    def _release(self) -> None:
        assert self.holder is not None
        held = self.holder.now()
        how = "frames" if self.holder.exception else "graph" if self.kind == "graph" else "values"
        then = hollow(held, how)
        if then is not held and self.holder.put is not None:
            self.holder.put(then)

    def facts(self) -> dict[str, Any]:
        holder = self.holder
        if holder is None or (self.released_at is None and not self._rises()):
            return {"memory": [vars(s) for s in self.samples]} if self.samples else {}
        site = self.cache or (self.feeding.site if self.feeding is not None else None)
        growth = {
            "kind": self.kind,
            "samples": [vars(s) for s in self.samples],
            "after": [vars(s) for s in self.after],
            "released_at": self.released_at,
            "loss_grows": rises(self.loss_nodes),
            "shape": self.shape,
            "single": self.single,
            "at_evaluation": self.fed_at_evaluation,
            "expression": holder.expression,
            "name": holder.name,
            "root": holder.root,
            "file": holder.file,
            "function": holder.function,
            "exception": holder.exception,
            "hooks": holder.hooks,
            "container": self.container,
            "cached": self.cache is not None,
            "bounded": self.bounded,
            "site": site,
        }
        return {"growth": growth, "memory": growth["samples"]}


def _decorated(cached: Any) -> dict[str, Any] | None:
    """Where a function with a cache is decorated."""
    code = getattr(getattr(cached, "__wrapped__", None), "__code__", None)
    return places.place(code.co_filename, code.co_firstlineno, code.co_name) if code is not None else None
