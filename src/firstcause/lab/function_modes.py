"""The torch function modes of firstcause's own, taken off where no line of the user's runs: in an optimizer's step.

Two thirds and more of all torch functions of a small training are called there, and each would go through every mode.
"""

from __future__ import annotations

import torch
from torch.overrides import TorchFunctionMode, _pop_mode, _push_mode

OWN = "firstcause."


class Modes:
    """``off`` takes ours off the top of the stack, ``on`` puts them back; what lies beneath a mode of others stays."""

    def __init__(self) -> None:
        self._taken: list[TorchFunctionMode] = []

    @property
    def are_off(self) -> bool:
        return bool(self._taken)

    def off(self) -> None:
        while torch._C._len_torch_function_stack():
            mode = _pop_mode()
            if not type(mode).__module__.startswith(OWN):
                _push_mode(mode)
                return
            self._taken.append(mode)

    def on(self) -> None:
        while self._taken:
            _push_mode(self._taken.pop())
