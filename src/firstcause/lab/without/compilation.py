"""torch.compile switched off, or stopped half way: captured only (eager), captured with its backward (aot_eager)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def install(level: str, met: Callable[[], None]) -> None:
    plain = torch.compile

    def compiled(model: Any = None, **kwargs: Any) -> Any:
        if model is None:
            return lambda function: compiled(function, **kwargs)
        met()
        if level == "off":
            return model
        return plain(model, **_at(level, kwargs))

    def compile_module(self: Any, *args: Any, **kwargs: Any) -> None:
        met()
        if level != "off":
            own(self, *args, **_at(level, kwargs))

    own: Any = torch.nn.Module.compile
    torch.compile, torch.nn.Module.compile = compiled, compile_module


def _at(level: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The program's arguments with another backend: modes and options are those of the backend that it named."""
    if not level:
        return kwargs
    return {k: v for k, v in kwargs.items() if k not in ("mode", "options")} | {"backend": level}
