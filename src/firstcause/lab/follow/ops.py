"""The torch functions that a stretch of the program calls, each with its line and the hash of what it gave."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name

from firstcause.lab import places
from firstcause.lab.payloads import together

MOST = 20_000


class Ops(TorchFunctionMode):
    """``seen``: name, place, hash of the result and of the operands, in the order of the calls."""

    def __init__(self, step: int) -> None:
        super().__init__()
        self.step, self.open = step, False
        self.seen: list[list[Any]] = []

    def __enter__(self) -> Any:
        self.open = True
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        self.open = False
        super().__exit__(*error)

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        taken = _digest(args) if len(self.seen) < MOST else ""
        result = function(*args, **(kwargs or {}))
        if len(self.seen) < MOST and isinstance(result, torch.Tensor):
            site = places.of_frame(sys._getframe(1))
            if site is not None:
                name = (resolve_name(function) or getattr(function, "__name__", "?")).rpartition(".")[2]
                self.seen.append([name, site, _digest([result]), taken])
        return result


def _digest(values: Any) -> str:
    with torch._C.DisableTorchFunction():
        return together(v for v in values if isinstance(v, torch.Tensor) and v.layout is torch.strided)
