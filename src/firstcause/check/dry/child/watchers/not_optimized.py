"""A parameter learns nothing because the optimizer was made before it.

Seen: a parameter of a called module gets gradients step after step and is in no optimizer, while an optimizer that holds
other parameters of that module holds some that no module has any more.
Refuted by: being added later, no parameter of the module in any optimizer (a fixed network), frozen on purpose.
"""

from __future__ import annotations

from typing import Any

from firstcause.check.dry.child.modules import everywhere
from firstcause.check.dry.child.optimizers import held
from firstcause.check.dry.child.watcher import Watcher

AT_LEAST = 3


class NotOptimized(Watcher):
    SLUG = "optimizer-before-params-replaced"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.modules: dict[int, Any] = {}
        self.seen: dict[str, int] = {}

    def forward(self, module: Any, inputs: Any, output: Any) -> None:
        self.modules[id(module)] = module

    def stepped(self, optimizer: Any) -> None:
        known = {id(p) for o in everywhere() for p in held(o)}
        mine = held(optimizer)
        self.session.absent("optimizer-step-missing", optimizer.fc_place)
        in_order = True
        for module in self.modules.values():
            named = list(module.named_parameters())
            present = {id(p) for _, p in named}
            gone = [p for p in mine if id(p) not in present]
            elsewhere = {id(p) for m in self.modules.values() if m is not module for p in m.parameters()}
            gone = [p for p in gone if id(p) not in elsewhere and p.grad is None]
            lost = [n for n, p in named if p.requires_grad and p.grad is not None and id(p) not in known]
            in_order = in_order and not lost
            if lost and gone and len(gone) < len(mine):
                self._tell(type(module).__name__, lost, len(gone))
        if in_order:
            self.session.fine(self.SLUG, optimizer.fc_place)

    def _tell(self, name: str, lost: list[str], gone: int) -> None:
        key = f"{name}.{lost[0]}"
        self.seen[key] = self.seen.get(key, 0) + 1
        if self.seen[key] >= AT_LEAST:
            text = (
                f"{name}.{lost[0]} gets gradients and is in no optimizer ({len(lost)} parameters like it), while the "
                f"optimizer holds {gone} that the model has no more: it was made before they were replaced"
            )
            self.session.find(self.SLUG, "critical", text)
