"""One function mode for all watchers: each is told of the calls that it asked for, and of no other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch.overrides import TorchFunctionMode

from firstcause.lab.audit import Call, Watcher


class FunctionCalls(TorchFunctionMode):
    """Tells watchers of calls between ``__enter__`` and ``__exit__``, once for a call inside of a call of the same kind."""

    def __init__(self, watchers: Sequence[Watcher]) -> None:
        super().__init__()
        self.asked: dict[str, list[Watcher]] = {}
        for watcher in watchers:
            for name in watcher.CALLS:
                self.asked.setdefault(name, []).append(watcher)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = str(getattr(func, "__name__", "")).strip("_")
        for watcher in self.asked.get(name, ()):
            watcher.called(Call(name, func, tuple(args), kwargs or {}, result))
        return result
