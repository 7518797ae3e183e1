"""The moment at which model and data are there: an arm is forked at the first mark, and what is marked may make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.nn.modules.module import register_module_forward_pre_hook


def at_first_forward(act: Callable[[], None]) -> None:
    """Call ``act`` once, as the next module begins its forward. Sealed child only."""

    def begins(module: Any, args: Any) -> None:
        hook.remove()
        act()

    hook = register_module_forward_pre_hook(begins)
