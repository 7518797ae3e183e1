"""One function mode for all watchers: each is told of the calls that it asked for, and of no other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch.overrides import TorchFunctionMode

from firstcause.lab.audit import Call, Watcher


class FunctionCalls(TorchFunctionMode):
    """Tells watchers of calls between ``__enter__`` and ``__exit__``, once for a call inside of a call of the same kind."""

    def __init__(self, watchers: Sequence[Watcher], failed: Callable[[Watcher, Exception], None]) -> None:
        super().__init__()
        self.asked: dict[str, list[Watcher]] = {}
        self.failed = failed
        for watcher in watchers:
            for name in watcher.CALLS:
                self.asked.setdefault(name, []).append(watcher)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
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
