"""One function mode for all watchers: each is told of the calls that it asked for, and of no other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from firstcause.lab.audit import Call, Watcher

# What only reads how a tensor is made: nobody asks for it, and the modes beneath this one need not see it either.
READING = frozenset(
    [
        *(getattr(torch.Tensor, n) for n in ("dim", "size", "numel", "stride", "data_ptr", "is_contiguous")),
        *(getattr(torch.Tensor, n) for n in ("is_floating_point", "is_complex", "element_size")),
        *(torch.is_floating_point, torch.is_complex),
        *(
            getattr(torch.Tensor, n).__get__
            for n in ("shape", "dtype", "device", "requires_grad", "grad", "grad_fn", "is_leaf", "ndim")
        ),
        *(getattr(torch.Tensor, n).__get__ for n in ("layout", "is_sparse", "is_cuda", "is_quantized")),
    ]
)
PLAIN = (torch.Tensor, torch.nn.Parameter)


class FunctionCalls(TorchFunctionMode):
    """Tells watchers of calls between ``__enter__`` and ``__exit__``, once for a call inside of a call of the same kind."""

    def __init__(self, watchers: Sequence[Watcher], failed: Callable[[Watcher, Exception], None]) -> None:
        super().__init__()
        self.asked: dict[str, list[Watcher]] = {}
        self.failed = failed
        for watcher in watchers:
            for name in watcher.CALLS:
                self.asked.setdefault(name, []).append(watcher)

    # Entered last, so that it stands before all other modes of an audit.
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in READING and type(args[0]) in PLAIN:
            with torch._C.DisableTorchFunction():
                return func(*args, **(kwargs or {}))
        result = func(*args, **(kwargs or {}))
        name = str(getattr(func, "__name__", "")).strip("_")
        for watcher in tuple(self.asked.get(name, ())):
            try:
                watcher.called(Call(name, func, tuple(args), kwargs or {}, result))
            except Exception as error:  # noqa: BLE001 - what looks on must not end the program that it looks at
                self.failed(watcher, error)
                for watchers in self.asked.values():
                    watchers[:] = [w for w in watchers if w is not watcher]
        return result
