"""The collective that this rank is about to make, written down before: it may end the process in C++."""

from __future__ import annotations

import functools
import sys
from types import ModuleType
from typing import Any

from firstcause.lab import places
from firstcause.lab.ranked import Watcher, around

NAMES = (
    "all_reduce",
    "broadcast",
    "reduce",
    "all_gather",
    "all_gather_into_tensor",
    "gather",
    "scatter",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "all_to_all",
    "all_to_all_single",
    "barrier",
)


class Calls(Watcher):
    """The collective in which the program itself is; DDP's own are seen by the flight recorder alone."""

    PATCHES = ("torch.distributed.distributed_c10d",)

    def __init__(self) -> None:
        self.pending: dict[str, Any] | None = None

    def patch(self, module: ModuleType) -> None:
        for name in NAMES:
            around(module, name, functools.partial(self._noted, name))

    def _noted(self, name: str, original: Any) -> Any:
        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            if kwargs.get("group") is not None or self.look is None:
                return original(*args, **kwargs)
            given = [a for a in (*args, *kwargs.values()) if hasattr(a, "untyped_storage")]
            frames = [places.standing(f) for f in places.user_frames(sys._getframe(1))]
            self.pending = {"op": name, "sizes": [list(a.shape) for a in given[:1]], "frames": frames}
            self.look()
            result = original(*args, **kwargs)
            self.pending = None
            return result

        return call

    def stepped(self, optimizer: Any) -> None:
        if self.look is not None:
            self.look()

    def facts(self) -> Any:
        return self.pending
