"""Where gradient mode is switched in a replayed pass, and what of it was off already when the pass began."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from firstcause.lab import places

if TYPE_CHECKING:
    from firstcause.lab.trace import Trace

SHOWN = 40


class GradientModes:
    """Watches the switches between ``attach`` and ``detach``; torch's own switch is wrapped, so in a sealed child only."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.at_start = True
        self.inference_at_start = False
        self.around: list[dict[str, Any]] = []
        self.switches: list[dict[str, Any]] = []
        self._undo: list[Callable[[], None]] = []

    def attach(self) -> None:
        self.at_start = torch.is_grad_enabled()
        self.inference_at_start = torch.is_inference_mode_enabled()
        self.around = [p for f in _user_frames(sys._getframe(1)) if (p := _decorated(f) or _plain(f))]
        switch, inference = torch._C._set_grad_enabled, torch.inference_mode.__enter__

        def switched(mode: bool) -> Any:
            self._note(bool(mode))
            return switch(mode)

        def entered(context: Any) -> Any:
            self._note(not context.mode)
            return inference(context)

        torch._C._set_grad_enabled = switched
        torch.inference_mode.__enter__ = entered
        self._undo = [
            lambda: setattr(torch._C, "_set_grad_enabled", switch),
            lambda: setattr(torch.inference_mode, "__enter__", inference),
        ]

    def detach(self) -> None:
        for undo in self._undo:
            undo()
        self._undo = []

    def _note(self, mode: bool) -> None:
        if len(self.switches) < 10_000 and torch._C._current_autograd_node() is None:
            frame = sys._getframe(2)
            if _is_ours(frame):
                return
            self.switches.append(
                {
                    "on": mode,
                    "before_op": len(self.trace.ops),
                    "site": decorator_site(frame) or places.of_frame(frame),
                }
            )

    def facts(self) -> dict[str, Any]:
        return {
            "on_at_start": self.at_start and not self.inference_at_start,
            "inference": self.inference_at_start,
            "around": self.around,
            "switches": [s for s in self.switches if s["site"] is not None][-SHOWN:],
        }


def _user_frames(frame: FrameType | None) -> list[FrameType]:
    found = []
    while frame is not None:
        if places.is_user_file(frame.f_code.co_filename) or frame.f_code.co_name == "decorate_context":
            found.append(frame)
        frame = frame.f_back
    return found


def _is_ours(frame: FrameType | None) -> bool:
    """Whether a frame of ours comes before the first of the user's."""
    while frame is not None and not places.is_user_file(frame.f_code.co_filename):
        if frame.f_code.co_filename.startswith(places.PACKAGE) and frame.f_code.co_filename != __file__:
            return True
        frame = frame.f_back
    return False


def _plain(frame: FrameType) -> dict[str, Any] | None:
    return places.place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name) | {"decorator": False}


def _decorated(frame: FrameType) -> dict[str, Any] | None:
    """The decorator's line, for the frame that torch runs a decorated function in."""
    function = frame.f_locals.get("func") if frame.f_code.co_name == "decorate_context" else None
    code = getattr(function, "__code__", None)
    if code is None or not places.is_user_file(code.co_filename):
        return None
    # Since Python 3.8 a function's first line is that of its first decorator.
    return places.place(code.co_filename, code.co_firstlineno, code.co_name) | {"decorator": True}


def decorator_site(frame: FrameType | None) -> dict[str, Any] | None:
    """The same for a switch: set where torch's decorator made it, before any frame of the user's."""
    while frame is not None and not places.is_user_file(frame.f_code.co_filename):
        found = _decorated(frame)
        if found is not None:
            return found
        frame = frame.f_back
    return None
