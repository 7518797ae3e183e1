"""In which order a training reads its samples: how alike the targets of one batch are, and what is forgotten in the end.

With ``settings["shuffled"]`` it reads them in random order, from the pass with that number on.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.audit import Call, Watcher
from firstcause.lab.class_batches import ClassBatches
from firstcause.lab.loaders import Course, Loaders
from firstcause.lab.loss_functions import LOSSES
from firstcause.lab.shuffling import SPLITS, Shuffled, is_batch_slice, is_split

KEPT, MOST_ELEMENTS, MOST_STEPS = 16, 2_000_000, 4000


@dataclass
class Batch:
    """What one step was taken on: the model's inputs, and the loss of its outputs."""

    model: torch.nn.Module
    inputs: tuple[Any, ...]
    call: Call
    shape: torch.Size


class Watch(Watcher):
    """Facts ``order``: the spread of the means of batches beside that of shuffled ones, and the loss on batches of all steps.

    Where the program compares classes by its own code, ``alone`` is the share of batches of one class; else it is None.
    """

    CALLS = LOSSES | ClassBatches.CALLS | {"getitem", *SPLITS}

    def start(self) -> None:
        if self.settings.get("shuffled"):
            Shuffled(int(self.settings["shuffled"])).__enter__()
        self.labels = ClassBatches()
        self.loaders = Loaders(self._begun, self.labels.given_by_loader)
        self.depth = 0
        self.model: tuple[torch.nn.Module, tuple[Any, ...]] | None = None
        self.models = 0
        self.last: Call | None = None
        self.targets: list[tuple[float, float, int]] = []
        # The same of classes that the program's own code compares.
        self.by_hand: list[tuple[float, float, int]] = []
        self.kept: list[Batch] = []
        self.every, self.steps = 1, 0
        self.slices: dict[tuple[str, int, int], dict[str, Any]] = {}
        # How many steps had been taken when each pass over a loader began, by the loader.
        self.total = 0
        self.begun: dict[int, list[int]] = {}
        torch.nn.modules.module.register_module_forward_pre_hook(self._enter)
        torch.nn.modules.module.register_module_forward_hook(self._leave, always_call=True)

    def _begun(self, course: Course) -> None:
        self.begun.setdefault(course.number, []).append(self.total)

    def _enter(self, module: torch.nn.Module, args: tuple[Any, ...]) -> None:
        is_loss = type(module).__module__ == "torch.nn.modules.loss"
        if self.depth == 0 and torch.is_grad_enabled() and not is_loss:
            self.model, self.models = (module, args), self.models + 1
        self.depth += 1

    def _leave(self, module: torch.nn.Module, args: Any, result: Any) -> None:
        self.depth -= 1

    def called(self, call: Call) -> None:
        if call.name in LOSSES:
            if len(call.args) > 1 and isinstance(call.args[0], torch.Tensor) and call.args[0].requires_grad:
                self.last = call
            return
        self.labels.called(call)
        if self.depth == 0 and (
            is_batch_slice(call.args)
            if call.name == "getitem"
            else is_split(call.name, call.args, call.kwargs)
        ):
            self.labels.offer(call.result)
            site = places.here()
            if site is not None:
                # Python 3.10 does not tell the column: two tensors cut in one line are told apart by where they lie.
                where = (site["file"], site["line"], site.get("column", call.args[0].data_ptr()))
                one = self.slices.setdefault(where, {"site": site, "begun": []})
                key = call.args[1] if call.name == "getitem" else None
                first = key[0] if isinstance(key, tuple) else key
                if first is None or first.start == 0:
                    one["begun"].append(self.total)

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.loaders.stepped()
        self.total += 1
        call, model, models = self.last, self.model, self.models
        self.last, self.model, self.models = None, None, 0
        target = call.args[1] if call is not None else None
        labels = self.labels.stepped() if call is None and self.steps < MOST_STEPS else None
        if labels is not None:
            self._measure(labels, self.by_hand)
        if (
            call is None
            or not isinstance(target, torch.Tensor)
            or target.dim() == 0
            or self.steps >= MOST_STEPS
        ):
            return
        if not self._measure(target, self.targets):
            return
        if model is not None and models == 1 and self.steps % self.every == 0:
            self._keep(Batch(*model, call, call.args[0].shape))
        self.steps += 1

    def _measure(self, target: torch.Tensor, into: list[tuple[float, float, int]]) -> bool:
        """Mean and variance of a batch's targets; whether there is more than one."""
        with torch.no_grad():
            values = target.detach().float().reshape(len(target), -1).mean(1)
        if len(values) > 1:
            into.append((float(values.mean()), float(values.var()), len(values)))
        return len(values) > 1

    def _keep(self, batch: Batch) -> None:
        held = [v for v in (*batch.inputs, batch.call.args[1]) if isinstance(v, torch.Tensor)]
        if sum(v.numel() for v in held) > MOST_ELEMENTS:
            return
        batch.inputs = tuple(v.detach().clone() if isinstance(v, torch.Tensor) else v for v in batch.inputs)
        target = batch.call.args[1].detach().clone()
        # The prediction holds the whole graph of its step.
        call = batch.call
        batch.call = Call(call.name, call.function, (None, target, *call.args[2:]), call.kwargs, None)
        self.kept.append(batch)
        if len(self.kept) > KEPT:
            self.kept = self.kept[::2]
            self.every *= 2

    def facts(self) -> dict[str, Any]:
        trained = [c for c in self.loaders.trained() if c.is_sequential]
        course = max(trained, key=lambda c: c.trained, default=None)
        cut = max(self.slices.values(), key=lambda s: len(s["begun"]), default=None)
        if course is not None:
            source: dict[str, Any] = {"by": "loader", "site": course.site, "begun": self.begun[course.number]}
        elif cut is not None and not self.loaders.trained():
            source = {"by": "slices"} | cut
        else:
            source = {"by": None, "begun": []}
        source["passes"] = len(source["begun"])
        if self.targets or not self.by_hand:
            figures = {"runs": _runs(self.targets), "steps": self.steps, "loss": self._loss(), "alone": None}
        else:
            figures = {"runs": _runs(self.by_hand), "steps": len(self.by_hand), "loss": None}
            figures |= self.labels.facts()
        return {"order": source | figures}

    def _loss(self) -> float | None:
        """The mean loss on the kept batches of the model as it is now, in evaluation mode."""
        found = []
        for batch in self.kept:
            modes = [(m, m.training) for m in batch.model.modules()]
            batch.model.eval()
            try:
                with torch.no_grad():
                    given = batch.model(*batch.inputs)
                    if not isinstance(given, torch.Tensor) or given.numel() != math.prod(batch.shape):
                        return None
                    args = (given.reshape(batch.shape), *batch.call.args[1:])
                    found.append(float(batch.call.function(*args, **batch.call.kwargs).mean()))
            finally:
                for module, training in modes:
                    module.training = training
        return statistics.fmean(found) if found else None


def _runs(targets: list[tuple[float, float, int]]) -> float | None:
    """The variance of the means of batches, over that of batches of the same size that were drawn at random."""
    if len(targets) < 8:
        return None
    between = statistics.pvariance([m for m, _, _ in targets])
    within = statistics.fmean(v for _, v, _ in targets)
    rows = statistics.fmean(n for _, _, n in targets)
    expected = (between + within) / rows
    return between / expected if expected > 0 else None
