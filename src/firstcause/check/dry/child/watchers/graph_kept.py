"""Losses are added up with their graphs, so that every step's memory is kept.

Seen: a sum that is continued at one line, three times and more, by losses that were differentiated on their own, and that is
itself never differentiated.
Refuted by: backward from the sum, ``item()`` or ``detach()``.
"""

from __future__ import annotations

import weakref
from typing import Any

import torch

from firstcause.check.dry.child.session import Place
from firstcause.check.dry.child.watcher import Watcher

AT_LEAST = 3
# Losses kept one by one may lie in a window of fixed length: only a suggestion.
KEPT = 5


class GraphKept(Watcher):
    SLUG = "loss-history-keeps-graph"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        # By line: the last sum and how many losses are in it.
        self.roots: list[tuple[weakref.ref[Any], Place]] = []
        self.sums: dict[Place, tuple[Any, int, list[Any]]] = {}

    def operated(self, name: str, inputs: tuple[Any, ...], output: Any) -> None:
        if name not in ("add", "__add__", "__radd__", "__iadd__", "add_") or not isinstance(
            output, torch.Tensor
        ):
            return
        if output.dim() or output.grad_fn is None:
            return
        place = self.session.place()
        last = self.sums.get(place)
        chained = last is not None and any(i is last[0] for i in inputs)
        losses = [i for i in inputs if isinstance(i, torch.Tensor) and (last is None or i is not last[0])]
        self.sums[place] = (
            output,
            (last[1] + 1 if chained and last else 1),
            [*(last[2] if chained and last else []), *losses],
        )

    def backward(self, root: Any) -> None:
        if isinstance(root, torch.Tensor):
            root.fc_root = True
            self.roots.append((weakref.ref(root), self.session.place()))
            if root.grad_fn is not None:
                for place, (total, _, _) in list(self.sums.items()):
                    if total is root or _leads_to(root.grad_fn, total.grad_fn):
                        self.sums.pop(place)
                        self.session.fine(self.SLUG, place)

    def stepped(self, optimizer: Any) -> None:
        self.ended()
        earlier = self.roots[:-1]
        if len(earlier) >= KEPT and all(ref() is not None for ref, _ in earlier) and not self.sums:
            text = (
                f"all {len(earlier)} losses of the steps before are still alive with their graphs: if they are kept for "
                "good, memory grows with every step; keep loss.item()"
            )
            self.session.find(self.SLUG, "suggestion", text, earlier[-1][1])

    def ended(self) -> None:
        for place, (_, many, losses) in self.sums.items():
            apart = sum(getattr(x, "fc_root", False) for x in losses)
            if many >= AT_LEAST and apart >= AT_LEAST:
                text = (
                    f"losses are added up with their graphs ({many} so far, never differentiated): memory grows "
                    "with every step; add loss.item()"
                )
                self.session.find(self.SLUG, "critical", text, place)


def _leads_to(start: Any, node: Any) -> bool:
    """Whether a graph reaches a node within a few edges."""
    waiting: list[tuple[Any, int]] = [(start, 0)]
    seen: set[Any] = set()
    while waiting:
        here, depth = waiting.pop()
        if here is node:
            return True
        if here is None or here in seen or depth > 12 or len(seen) > 500:
            continue
        seen.add(here)
        waiting += [(n, depth + 1) for n, _ in here.next_functions]
    return False
