"""float16 autocast without a GradScaler.

Seen: layers computed in float16 under autocast, backward from an unscaled loss, a step; no scaler in the program.
Refuted by: bfloat16, a scaler, a loss that the program multiplies itself.
"""

from __future__ import annotations

from typing import Any

import torch

from firstcause.check.dry.child import autocast, scaler
from firstcause.check.dry.child.session import NOWHERE
from firstcause.check.dry.child.watcher import Watcher


class ScalerMissing(Watcher):
    SLUG = "scaler-missing"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.place = NOWHERE
        self.enlarged = False

    def operated(self, name: str, inputs: tuple[Any, ...], output: Any) -> None:
        if (
            name in ("mul", "__mul__", "__rmul__", "mul_")
            and isinstance(output, torch.Tensor)
            and output.dim() == 0
        ):
            self.enlarged = self.enlarged or any(isinstance(i, (int, float)) and i > 1 for i in inputs)

    def backward(self, root: Any) -> None:
        half = torch.float16 in autocast.used
        self.place = self.session.place() if half and not scaler.enabled() and not self.enlarged else NOWHERE

    def backward_done(self, root: Any) -> None:
        for place, dtype in autocast.entered.items():
            if dtype != torch.float16 or getattr(root, "fc_scaled", False):
                self.session.fine(self.SLUG, place)

    def step(self, optimizer: Any) -> None:
        if self.place[1]:
            text = (
                "backward from a loss computed under float16 autocast without a GradScaler: small gradients "
                "become zero; add one, or use bfloat16"
            )
            self.session.find(self.SLUG, "critical", text, self.place)
