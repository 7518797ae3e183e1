"""Autocast switched off, so that every op runs in the dtype of its inputs; modules in half precision widened."""

from __future__ import annotations

import gc
from typing import Any

import torch

from firstcause.lab.interventions import Intervention

HALF = (torch.float16, torch.bfloat16)


class Change(Intervention):
    """What was narrowed by autocast or by ``.half()`` on a module is float32 here."""

    def start(self) -> None:
        original = torch.autocast.__init__

        def init(mode: Any, *args: Any, **kwargs: Any) -> None:
            original(mode, *args, **kwargs)
            mode._enabled = False

        torch.autocast.__init__ = init
        self.widened = 0
        for module in gc.get_objects():
            if issubclass(type(module), torch.nn.Module):
                held = [*module._parameters.values(), *module._buffers.values()]
                for tensor in held:
                    if tensor is not None and tensor.dtype in HALF:
                        tensor.data = tensor.data.float()
                        self.widened += 1
        if self.widened:
            torch.nn.modules.module.register_module_forward_pre_hook(_widen)

    def facts(self) -> dict[str, Any]:
        return {"widened": self.widened}


def _widen(module: torch.nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(x.float() if isinstance(x, torch.Tensor) and x.dtype in HALF else x for x in inputs)
