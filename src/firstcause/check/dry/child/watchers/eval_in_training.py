"""Steps are made while the model is still in the evaluation mode that an evaluation left it in.

Seen: the model (with dropout or batch norm) was evaluated without gradients in eval mode, ``train()`` was not called since,
and an optimizer steps on what it computed so.
Refuted by: eval mode chosen for training itself, before any evaluation; only parts in eval mode.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from firstcause.check.dry.child.optimizers import held
from firstcause.check.dry.child.session import Place
from firstcause.check.dry.child.watcher import Watcher

AT_LEAST = 2


def mode_matters(module: Any) -> bool:
    return any(
        (isinstance(m, nn.modules.dropout._DropoutNd) and m.p > 0)
        or isinstance(m, nn.modules.batchnorm._BatchNorm)
        or (isinstance(m, (nn.RNNBase, nn.MultiheadAttention)) and float(m.dropout) > 0)
        for m in module.modules()
    )


class EvalInTraining(Watcher):
    SLUG = "eval-mode-in-training"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.evaluated: set[int] = set()
        self.switched: dict[int, Place] = {}
        self.used: dict[int, Any] = {}
        self.times: dict[int, int] = {}
        self.chosen: set[int] = set()

    def moded(self, module: Any, training: bool) -> None:
        if training:
            for inner in module.modules():
                self.evaluated.discard(id(inner))
                self.used.pop(id(inner), None)
        else:
            self.switched[id(module)] = self.session.place()

    def forward(self, module: Any, inputs: Any, output: Any) -> None:
        if module.training:
            if torch.is_grad_enabled() and id(module) in self.switched:
                self.session.fine(self.SLUG, self.switched[id(module)])
            return
        if not torch.is_grad_enabled():
            self.evaluated.add(id(module))
        elif id(module) not in self.evaluated:
            # Trained so before anything was evaluated.
            self.chosen.add(id(module))
        elif id(module) not in self.chosen and mode_matters(module):
            self.used[id(module)] = module

    def backward_done(self, root: Any) -> None:
        for key, module in self.used.items():
            if any(p.grad is not None for p in module.parameters()):
                self.times[key] = self.times.get(key, 0) + 1

    def step(self, optimizer: Any) -> None:
        mine = {id(p) for p in held(optimizer) if p.grad is not None}
        for key, module in list(self.used.items()):
            trained = any(id(p) in mine for p in module.parameters())
            if trained and self.times.get(key, 0) >= AT_LEAST:
                left = self.switched.get(key)
                text = (
                    f"{type(module).__name__} is trained in eval mode: eval() was called for an evaluation and train() not "
                    "since, so dropout and batch norm no longer train"
                )
                self.session.find(self.SLUG, "critical", text, left, (self.session.place(),))
        self.used.clear()
