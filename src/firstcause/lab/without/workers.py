"""Loader workers switched off: samples are fetched in the process itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.utils.data import dataloader

# They have a meaning only where there are workers.
OWN = ("prefetch_factor", "persistent_workers", "multiprocessing_context", "timeout")
# The place of ``num_workers`` among the arguments of a loader.
NUMBER = 5


def install(level: str, met: Callable[[], None]) -> None:
    kind: Any = dataloader.DataLoader
    plain = kind.__init__

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        asked = kwargs.get("num_workers", args[NUMBER] if len(args) > NUMBER else 0)
        if asked:
            met()
        if asked and level:
            kwargs = {k: v for k, v in kwargs.items() if k not in OWN}
            if len(args) > NUMBER:
                args = (*args[:NUMBER], 0, *args[NUMBER + 1 :])
            else:
                kwargs["num_workers"] = 0
        plain(self, *args, **kwargs)

    kind.__init__ = init
