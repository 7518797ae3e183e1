"""At a few steps, ever rarer: how far the weights move for their size, and the named terms that the loss is the sum of.

What a look takes of the processor is paid from a share of the time that the program has taken so far: one that would
cost more waits.
"""

from __future__ import annotations

import math
import os
import sys
import time
import weakref
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

import firstcause
from firstcause.record.observe.frame_names import names_of

if TYPE_CHECKING:
    from firstcause.record.journal import Journal

PACKAGE = os.path.dirname(firstcause.__file__) + os.sep
# Some forty looks in 10,000 steps.
FACTOR = 1.2
SHARE = 0.001
# Seconds that looks may take beside it: a short run shows something too.
FREE = 0.003
# Values of a parameter that stand for all of it, and parameters that stand for all of a model.
SAMPLE, MOST_PARAMETERS = 512, 400
MOST_TERMS, MOST_NODES, MOST_NAMES = 8, 64, 200
# What a loss may be put together with from its terms.
_SUMS = ("Add", "Sub", "Sum", "Mean", "Stack")
_PASSED = (*_SUMS, "Mul", "Div", "Neg", "ToCopy", "Squeeze", "Unsqueeze", "View", "Alias")


class Looks:
    """What is looked at in one process; ``loss`` comes before ``before`` in a step."""

    def __init__(self) -> None:
        self.next = 1
        self.spent = 0.0
        self.began = time.perf_counter()
        self._terms: dict[str, float] = {}
        self._held: tuple[weakref.ref[Any], list[tuple[weakref.ref[torch.Tensor], torch.Tensor]]] | None = (
            None
        )
        self._step = 0

    def due(self, step: int) -> bool:
        """Whether this step (0-based) is one of the few, and what looks have taken so far allows it."""
        return step >= self.next and self.spent <= FREE + SHARE * (time.perf_counter() - self.began)

    def loss(self, step: int, value: torch.Tensor) -> None:
        """Note the terms of a loss by the names of the frame that goes back from it, if the step is due."""
        if self._held is None and self.due(step):
            begun = time.thread_time()
            frame: FrameType | None = sys._getframe(1)
            while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
                frame = frame.f_back
            self._terms = terms(value, frame) if frame is not None else {}
            self.spent += time.thread_time() - begun

    def before(
        self,
        step: int,
        optimizer: torch.optim.Optimizer,
        parameters: Sequence[torch.Tensor],
        journal: Journal,
    ) -> None:
        """Before a step: hold a sample of its weights if it is due, or say how far those of the last look have moved."""
        if self._held is None:
            if not self.due(step):
                return
            begun = time.thread_time()
            self.next, self._step = max(step + 1, int(FACTOR * step)), step
            self._held = weakref.ref(optimizer), _sampled(parameters)
        elif self._held[0]() is optimizer or self._held[0]() is None:
            begun = time.thread_time()
            held, self._held = self._held, None
            told = {"updates": _moved(held[1])} | ({"terms": self._terms} if self._terms else {})
            self._terms = {}
            if any(told.values()):
                journal.event("look", step=self._step, **told)
        else:
            return
        self.spent += time.thread_time() - begun


def terms(value: torch.Tensor, frame: FrameType) -> dict[str, float]:
    """The numbers among the names of a frame, or one container below them, that a loss is a sum of; empty where none is."""
    named = _scalars(frame)
    # The nodes themselves and not their ids: before torch 2.5 Python's side of one that nobody holds is made anew each time.
    nodes = {
        t.grad_fn: name for name, t in named.items() if t is not value and t.grad_fn is not value.grad_fn
    }
    if not nodes or value.grad_fn is None:
        return {}
    found: list[str] = []
    summed = False
    queue, seen = [value.grad_fn], 0
    while queue and seen < MOST_NODES and len(found) < MOST_TERMS:
        node = queue.pop(0)
        seen += 1
        if node in nodes:
            found.append(nodes[node])
            continue
        kind = type(node).__name__.removesuffix("0").removesuffix("Backward")
        if kind in _PASSED:
            summed = summed or kind in _SUMS
            queue += [n for n, _ in node.next_functions if n is not None]
    return {name: float(named[name].detach()) for name in dict.fromkeys(found)} if summed else {}


def _scalars(frame: FrameType) -> dict[str, torch.Tensor]:
    own: dict[str, torch.Tensor] = {}
    held: dict[str, torch.Tensor] = {}
    for name, value in list(names_of(frame, {}).items())[:MOST_NAMES]:
        if type(value) is torch.Tensor:
            own[name] = value
        elif type(value) is dict and len(value) <= MOST_TERMS:
            held |= {f"{name}[{k!r}]": v for k, v in value.items() if type(v) is torch.Tensor}
        elif type(value) in (list, tuple) and len(value) <= MOST_TERMS:
            held |= {f"{name}[{n}]": v for n, v in enumerate(value) if type(v) is torch.Tensor}
    # A name of its own, the later one, is the one that is told.
    return {n: t for n, t in (held | own).items() if t.numel() == 1 and t.grad_fn is not None}


def _sampled(parameters: Sequence[torch.Tensor]) -> list[tuple[weakref.ref[torch.Tensor], torch.Tensor]]:
    """Evenly spaced values of evenly spaced parameters, those that are plain and lie on the device of the first."""
    every = -(-len(parameters) // MOST_PARAMETERS) or 1
    chosen = [p for p in parameters[::every] if _is_plain(p)]
    return [(weakref.ref(p), _sample(p).clone()) for p in chosen if p.device == chosen[0].device]


def _is_plain(tensor: torch.Tensor) -> bool:
    return (
        type(tensor) in (torch.Tensor, torch.nn.Parameter)
        and tensor.layout is torch.strided
        and tensor.device.type in ("cpu", "cuda")
        and tensor.is_floating_point()
        and tensor.is_contiguous()
        and tensor.numel() > 0
    )


def _sample(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().view(-1)[:: max(1, tensor.numel() // SAMPLE)].float()


def _moved(held: Sequence[tuple[weakref.ref[torch.Tensor], torch.Tensor]]) -> list[float]:
    """The norm of what has changed over the norm of what was there, lowest, median and highest over the parameters."""
    pairs = [(p, was) for reference, was in held if (p := reference()) is not None and _is_plain(p)]
    now = [_sample(p) for p, _ in pairs]
    both = [
        (a, b) for a, (_, b) in zip(now, pairs, strict=True) if a.shape == b.shape and a.device == b.device
    ]
    if not both:
        return []
    with torch.no_grad():
        before = [b for _, b in both]
        moved = torch._foreach_norm(torch._foreach_sub([a for a, _ in both], before))
        values = torch.stack([*moved, *torch._foreach_norm(before)]).tolist()
    count = len(both)
    # A parameter that begins at zero, as a bias does, has no ratio.
    pairs_of = zip(values[:count], values[count:], strict=True)
    ratios = sorted(m / w for m, w in pairs_of if w > 0 and math.isfinite(m / w))
    return [ratios[0], ratios[len(ratios) // 2], ratios[-1]] if ratios else []
