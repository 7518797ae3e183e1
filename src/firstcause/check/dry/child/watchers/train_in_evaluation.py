"""An evaluation with dropout or batch norm still in training mode.

Seen: a pass over a DataLoader without gradients, two batches at least and no backward in it, of a model that an optimizer
trains, in training mode.
Refuted by: ``train()`` called for that pass, weights no optimizer has (an average of others), gradients switched on.
"""

from __future__ import annotations

from typing import Any

import torch

from firstcause.check.dry.child.modules import everywhere
from firstcause.check.dry.child.optimizers import held
from firstcause.check.dry.child.session import Place
from firstcause.check.dry.child.watcher import Watcher
from firstcause.check.dry.child.watchers.eval_in_training import mode_matters


class TrainInEvaluation(Watcher):
    SLUG = "missing-eval-mode"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.explicit: set[int] = set()
        # Since the last backward, by module: the batches in whose time it was called.
        self.calls: dict[int, set[int]] = {}
        self.pending: dict[int, tuple[Any, Place]] = {}
        self.in_pass = False
        self.in_order: list[Place] = []
        # One that was not in eval mode, whatever it is: then the others say nothing.
        self.unsure = False

    def loaded(self, loader: Any) -> None:
        self.in_pass = True
        self.calls.clear()

    def moded(self, module: Any, training: bool) -> None:
        if training:
            self.explicit |= {id(m) for m in module.modules()}

    def backward(self, root: Any) -> None:
        self.calls.clear()
        self.explicit.clear()

    def forward(self, module: Any, inputs: Any, output: Any) -> None:
        if torch.is_grad_enabled():
            return
        if not module.training:
            self.in_order += self.session.places()
            return
        self.unsure = self.unsure or mode_matters(module)
        if self.in_pass and self.session.steps and id(module) not in self.explicit and mode_matters(module):
            self.calls.setdefault(id(module), set()).add(self.session.batches)
            if len(self.calls[id(module)]) >= 2:
                self.pending[id(module)] = module, self.session.place()

    def ended(self) -> None:
        if not self.unsure:
            self.session.fine(self.SLUG, *self.in_order)
        known = {id(p) for o in everywhere() for p in held(o)}
        for module, place in self.pending.values():
            if any(id(p) in known for p in module.parameters()):
                text = (
                    f"{type(module).__name__} is evaluated over a DataLoader in training mode: dropout drops and batch norm "
                    "takes its statistics from these batches; call eval() before and train() after"
                )
                self.session.find(self.SLUG, "critical", text, place)
