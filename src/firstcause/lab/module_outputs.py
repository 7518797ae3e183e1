"""What each module of the failing step gave out, in figures: its last op's result, seen when the next module begins."""

from __future__ import annotations

from typing import Any

import torch

from firstcause.lab import tensors

MOST = 400


class ModuleOutputs:
    """Figures by module path, in the order in which the modules first ended; called from within the dispatch of an op."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, Any]] = {}
        # One tensor is held, until an op of another module comes.
        self._open: tuple[str, torch.Tensor] | None = None

    def made(self, module: str | None, made: list[torch.Tensor]) -> None:
        """An op of the forward pass has made these tensors within ``module`` (None: outside of all)."""
        if self._open is not None and self._open[0] != module:
            self.close()
        if module is not None and made and made[0].is_floating_point():
            self._open = module, made[0]

    def close(self) -> None:
        """No op of the module that is open follows: its figures are those of its last result."""
        if self._open is None:
            return
        (module, tensor), self._open = self._open, None
        if module in self.found or len(self.found) < MOST:
            self.found[module] = tensors.figures(tensor)
