"""Which modules act differently in training and evaluation, and who switched their mode last. Sealed child only."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.dropout import _DropoutNd

from firstcause.lab import places


def acts(module: torch.nn.Module) -> bool:
    """Whether a module of torch does in training what it does not in evaluation."""
    return drops(module) or (isinstance(module, _NormBase) and bool(module.track_running_stats))


def drops(module: torch.nn.Module) -> bool:
    """Whether it drops values at random in training mode."""
    if isinstance(module, _DropoutNd):
        return bool(module.p > 0)
    if isinstance(module, torch.nn.RNNBase):
        return bool(module.dropout > 0 and module.num_layers > 1)
    return isinstance(module, torch.nn.MultiheadAttention) and bool(module.dropout > 0)


@dataclass
class Switch:
    """One call of ``train()`` or ``eval()`` by the program: of what, to what, where; ``evaluated`` once it was for that."""

    module: torch.nn.Module
    mode: bool
    site: dict[str, Any] | None
    evaluated: bool = False


class Switches:
    """The last switch of each module, from now on."""

    def __init__(self) -> None:
        self.last: dict[int, Switch] = {}
        self.all: list[Switch] = []
        self._depth = 0
        train = torch.nn.Module.train

        def switched(module: torch.nn.Module, mode: bool = True) -> Any:
            self._depth += 1
            try:
                result = train(module, mode)
            finally:
                self._depth -= 1
            if not self._depth:
                self._note(Switch(module, bool(mode), places.of_frame(sys._getframe(1))))
            return result

        torch.nn.Module.train = switched

    def _note(self, switch: Switch) -> None:
        self.all.append(switch)
        for part in switch.module.modules():
            self.last[id(part)] = switch
