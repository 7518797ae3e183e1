"""The statement that puts things into a container: seen as it happens, by the call of its method. Sealed child only."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from firstcause.lab import places

FEEDING = frozenset({"append", "appendleft", "extend", "insert", "add", "setdefault", "update", "put"})


class Feeding:
    """Watches one container between ``begin`` and ``end``; ``site`` is the first statement that fed it, or None.

    A store by subscript is no call and is not seen here.
    """

    def __init__(self, container: Any) -> None:
        self.container = container
        self.site: dict[str, Any] | None = None

    def begin(self) -> None:
        sys.setprofile(self._event)

    def end(self) -> None:
        sys.setprofile(None)

    def _event(self, frame: FrameType, event: str, arg: Any) -> None:
        if event != "c_call" or getattr(arg, "__self__", None) is not self.container:
            return
        if arg.__name__ in FEEDING and self.site is None:
            self.site = places.of_frame(frame, columns=True)
