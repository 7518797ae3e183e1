"""Parameters of a DDP model that get no gradient in a step, which DDP does not allow by itself.

Seen: after backward through the wrapped model, some of its trainable parameters are without a gradient while others have one,
in two steps.
Refuted by: ``find_unused_parameters=True``, a static graph, frozen parameters, gradients added up under ``no_sync``.
"""

from __future__ import annotations

from typing import Any

from firstcause.check.dry.child import ranks
from firstcause.check.dry.child.session import NOWHERE
from firstcause.check.dry.child.watcher import Watcher

AT_LEAST = 2


class DdpUnused(Watcher):
    SLUG = "ddp-unused-parameters"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.called: dict[int, Any] = {}
        self.before: dict[int, set[int]] = {}
        self.times = 0

    def forward(self, module: Any, inputs: Any, output: Any) -> None:
        if isinstance(module, ranks.Wrapped) and module.training:
            self.called[id(module)] = module

    def backward(self, root: Any) -> None:
        self.before = {
            key: {id(p.grad) for p in m.parameters() if p.grad is not None} for key, m in self.called.items()
        }

    def backward_done(self, root: Any) -> None:
        called, self.called = list(self.called.values()), {}
        for module in called:
            if module.find_unused_parameters or module.static_graph or self.before.get(id(module)):
                continue
            named = [(n, p) for n, p in module.module.named_parameters() if p.requires_grad]
            unused = [n for n, p in named if p.grad is None]
            if not unused or len(unused) == len(named):
                continue
            self.times += 1
            if self.times >= AT_LEAST:
                text = (
                    f"{unused[0]} and {len(unused) - 1} more of {len(named)} parameters get no gradient in a step of the DDP "
                    "model: the next step raises on every rank; use them, or pass find_unused_parameters=True"
                )
                place = getattr(module, "fc_place", NOWHERE)
                self.session.find(self.SLUG, "critical", text, place, (self.session.place(),))
