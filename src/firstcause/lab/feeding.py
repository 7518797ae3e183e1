"""The statement that feeds a holder: seen as it happens, line by line, by what the holder holds. Sealed child only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.frames import variables
from firstcause.lab.reaching import CACHED, CONTAINERS, steps

# Every line of the program is looked at for so long at most.
SECONDS = 8.0
MOST_ITEMS = 4000
FEW = 8


class Feeding:
    """Watches a holder between ``begin`` and ``end``; ``site`` is the first statement that fed it, or None.

    ``now`` gives what the holder's name holds: fed means another object, or more items beneath it. ``note`` is asked
    at that moment.
    """

    def __init__(self, now: Callable[[], Any], note: Callable[[], None] = lambda: None) -> None:
        self.now, self.note = now, note
        self.site: dict[str, Any] | None = None
        self.seconds = SECONDS
        self._last: tuple[str, int, str] | None = None
        self._before: tuple[int, int] = (0, 0)
        self._traced: list[FrameType] = []

    def begin(self) -> None:
        if self.site is not None or self.seconds <= 0:
            return
        self._before = size(self.now())
        self._last = None
        self._traced = list(places.user_frames(sys._getframe(1)))
        for frame in self._traced:
            frame.f_trace = self._event
        self.began = time.process_time()
        sys.settrace(self._event)

    def end(self) -> None:
        if not self._traced:
            return
        sys.settrace(None)
        for frame in self._traced:
            frame.f_trace = None
            # What tracing left behind in the frame.
            variables(frame)
        self._traced = []
        self.seconds -= time.process_time() - self.began

    def _event(self, frame: FrameType, event: str, arg: Any) -> Any:
        if not places.is_user_file(frame.f_code.co_filename):
            return None
        if self.site is not None:
            return None
        if event in ("line", "return", "call"):
            after = size(self.now())
            if self._last is not None and (after[1] > self._before[1] or after[0] != self._before[0]):
                self.site = places.place(*self._last)
                self.note()
                return None
            self._before = after
        above = next(places.user_frames(frame.f_back), None) if event == "return" else frame
        if above is not None:
            self._last = (above.f_code.co_filename, above.f_lineno, above.f_code.co_name)
        return self._event


def size(value: Any, depth: int = 4) -> tuple[int, int]:
    """The identity of what is held, and how many items are beneath it."""
    if isinstance(value, torch.Tensor):
        # A total that is added to in place stays the same object.
        return id(value), 0 if value.is_inference() else value._version
    if issubclass(type(value), (list, dict)) and len(value) <= FEW:
        # States that are replaced under their keys: as many, but others.
        held = value.values() if isinstance(value, dict) else value
        return hash((id(value), *map(id, held))), _items(value, depth)
    return id(value), _items(value, depth)


def _items(value: Any, depth: int) -> int:
    kind = type(value)
    if kind is CACHED:
        return int(value.cache_info().currsize)
    if issubclass(kind, dict):
        held: Any = list(value.values())
    elif issubclass(kind, CONTAINERS):
        held = value
    elif depth and places.is_user_file(getattr(sys.modules.get(kind.__module__), "__file__", None) or "<"):
        held = [s.value for s in steps(value)]
        return sum(_items(v, depth - 1) for v in held)
    elif depth and hasattr(value, "queue"):
        held = value.queue
    else:
        return 0
    count = len(held)
    if depth and count:
        some = list(held)[-MOST_ITEMS:]
        count += sum(_items(v, depth - 1) for v in some if issubclass(type(v), (*CONTAINERS, dict)))
    return count
