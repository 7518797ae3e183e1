"""Autocast and gradient scaling switched off: every op runs in the dtype of its inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.amp import grad_scaler


def install(level: str, met: Callable[[], None]) -> None:
    autocast: Any = torch.autocast
    scaler: Any = grad_scaler.GradScaler
    begin, scale = autocast.__init__, scaler.__init__

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        if self._enabled:
            met()
        if level:
            self._enabled = False

    def scaling(self: Any, *args: Any, **kwargs: Any) -> None:
        scale(self, *args, **kwargs)
        if self._enabled:
            met()
        if level:
            self._enabled = False

    autocast.__init__, scaler.__init__ = init, scaling
