"""TensorBoard's writers: a queue that a thread empties, and no thread of the program lives on after a fork."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def patch_tensorboard(module: ModuleType) -> None:
    """Writers from before the fork fall silent; new ones write their files in the layer."""
    for name in ("write", "flush", "close"):
        _only_alive(module._AsyncWriter, name)


def patch_tensorboardx(module: ModuleType) -> None:
    """Silent at all: its queue between processes needs a semaphore, which the seal does not let it make."""

    def start(self: Any, *args: Any, **kwargs: Any) -> None:
        self._logdir, self._closed = args[0] if args else kwargs.get("logdir"), True

    module.EventFileWriter.__init__ = start
    for name in ("add_event", "flush", "close", "reopen"):
        setattr(module.EventFileWriter, name, lambda self, *args, **kwargs: None)


def _only_alive(writer: Any, name: str) -> None:
    original = getattr(writer, name)

    def writing(self: Any, *args: Any) -> Any:
        # The lock may have been held by the thread that is gone, so it is not even asked for.
        return original(self, *args) if self._worker.is_alive() else None

    setattr(writer, name, writing)
