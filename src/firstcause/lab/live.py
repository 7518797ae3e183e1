"""The tensors that are alive, by one pass over the collector's objects. Sealed child only."""

from __future__ import annotations

import gc
import os
import weakref
from dataclasses import dataclass
from typing import Any

import torch

# A graph is walked so far at most; what is larger has grown enough to tell.
MOST_NODES = 100_000
# A tensor that was there so many samples ago has outlived its step.
AGE = 3
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Sample:
    """After one step: tensors alive and their bytes, how many have a graph, its nodes, and resident bytes."""

    step: int
    tensors: int
    bytes: int
    with_graph: int
    nodes: int
    resident: int


class Live:
    """Counts tensors at each sample and knows since which sample each has been there."""

    def __init__(self) -> None:
        self._kinds: dict[type, bool] = {}
        self._born: dict[int, tuple[weakref.ref[torch.Tensor], int]] = {}
        # What had a graph at the first sample, and its nodes then.
        self._first: list[tuple[weakref.ref[torch.Tensor], int]] = []
        self.samples = 0

    def sample(self, step: int) -> Sample:
        tensors = self.tensors()
        born, sizes = {}, {}
        for tensor in tensors:
            known = self._born.get(id(tensor))
            since = known[1] if known is not None and known[0]() is tensor else self.samples
            born[id(tensor)] = (weakref.ref(tensor), since)
            try:
                storage = tensor.untyped_storage()
                sizes[storage.data_ptr()] = storage.nbytes()
            except (RuntimeError, NotImplementedError, AttributeError):
                # Sparse and wrapped tensors have no one storage; they are counted, not measured.
                continue
        self._born = born
        self.samples += 1
        with_graph = [t for t in tensors if t.grad_fn is not None]
        if self.samples == 1:
            self._first = [(weakref.ref(t), nodes([t])) for t in with_graph]
        return Sample(step, len(tensors), sum(sizes.values()), len(with_graph), nodes(with_graph), resident())

    def old(self) -> list[torch.Tensor]:
        """Those that came after the first sample and have outlived their step, oldest first."""
        found = [(since, r()) for r, since in self._born.values() if 0 < since < self.samples - AGE]
        return [t for _, t in sorted(found, key=lambda f: f[0]) if t is not None]

    def roots(self) -> list[torch.Tensor]:
        """Of the old ones with a graph those that no other tensor's graph leads to: what holds a graph is among them."""
        below: set[Any] = set()
        for tensor in (t for t in self.tensors() if t.grad_fn is not None):
            below |= _below(tensor.grad_fn, below)
        return [t for t in self.old() if t.grad_fn is not None and t.grad_fn not in below]

    def carried(self) -> list[torch.Tensor]:
        """The one with the least graph of those whose graph is at least half of all: what a step makes from the step before.

        Graphs that were there at the first sample are none of these.
        """
        later = (r() for r, since in self._born.values() if since > 0)
        now = [(nodes([t]), i, t) for i, t in enumerate(later) if t is not None and t.grad_fn is not None]
        whole = nodes([t for _, _, t in now])
        return [t for n, _, t in sorted(now, key=lambda f: f[:2]) if n >= whole / 2][:1]

    def accumulated(self) -> list[torch.Tensor]:
        """Those of the first sample whose graph has grown since: what steps are added to in place stays the same tensor."""
        now = [(t, then) for r, then in self._first if (t := r()) is not None and t.grad_fn is not None]
        return [t for t, then in now if nodes([t]) > then]

    def tensors(self) -> list[torch.Tensor]:
        # By type alone: isinstance asks proxies for their class, which has side effects.
        return [o for o in gc.get_objects() if self._is_tensor(type(o))]

    def _is_tensor(self, kind: type) -> bool:
        known = self._kinds.get(kind)
        if known is None:
            mro = type.mro(kind) if isinstance(kind, type) and kind is not type else []
            known = torch.Tensor in mro and torch.nn.Parameter not in mro
            self._kinds[kind] = known
        return known


def _below(start: Any, known: set[Any]) -> set[Any]:
    """The nodes beneath one, without those that are known already."""
    found: set[Any] = set()
    stack = [following for following, _ in start.next_functions]
    while stack and len(found) < MOST_NODES:
        node = stack.pop()
        if node is None or node in found or node in known:
            continue
        found.add(node)
        stack.extend(following for following, _ in node.next_functions)
    return found


def nodes(roots: list[torch.Tensor]) -> int:
    """How many autograd nodes are reachable from so many tensors, at most ``MOST_NODES``."""
    seen: set[Any] = set()
    stack: list[Any] = [t.grad_fn for t in roots]
    while stack and len(seen) < MOST_NODES:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        stack.extend(following for following, _ in node.next_functions)
    return len(seen)


def resident() -> int:
    """The process's resident memory in bytes; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * PAGE
    except OSError:
        return 0
