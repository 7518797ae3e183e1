"""An exception outside of every unit: the module call that it passed is made once more, in a sealed child.

Predictions, validations and request handlers have no optimizer step to rewind to. But the exception's traceback
holds the outermost call of a module with its arguments, and that call can be repeated and watched.
"""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace, TracebackType
from typing import TYPE_CHECKING, Any

import torch

from firstcause.record.observe import exceptions, failure
from firstcause.record.observe.call_replay import at
from firstcause.record.observe.reachable import is_own_class, reach
from firstcause.record.observe.replay import Replay

if TYPE_CHECKING:
    from firstcause.record.observe.session import Session

MODULE_FILE = sys.modules["torch.nn.modules.module"].__file__
SECONDS = 30.0


def recall(session: Session, error: Exception) -> None:
    """Repeat the call that raised, and keep what was seen, where the exception was not met in a unit."""
    recorder = session.ready()
    call = _outermost_call(error)
    if (
        recorder is None
        or call is None
        or session.replay
        or (session.calls is not None and failure.key_of(error) in session.calls.seen)
        or failure.key_of(error) in recorder.replayed_exceptions
    ):
        return
    before, module, arguments, keywords = call
    frame = before[-1].tb_frame if before else None
    finder = session.finder

    def own(kind: type) -> bool:
        return finder is not None and is_own_class(kind, finder.is_project_file)

    facts: dict[str, Any] = {
        "kind": "exception",
        "step": None,
        "exception": exceptions.describe(error),
        "losses": [],
    }
    facts |= {"name": f"{os.getpid()}-call", "unit": None, "recalled": type(module).__name__}
    facts |= {"not_replayable": failure.no_fork(), "not_saved": "the exception lies outside of every unit"}
    result = failure.split_off(session, "failures", facts, SECONDS)
    if result is not None:
        view = SimpleNamespace(reachable=reach(frame, own) if frame is not None else recorder.reachable)
        places = (
            t for t in reversed(before) if finder and finder.is_project_file(t.tb_frame.f_code.co_filename)
        )
        Recall(recorder, view, error, result).run(module, arguments, keywords, next(places, None))


def _outermost_call(error: Exception) -> tuple[list[TracebackType], torch.nn.Module, Any, Any] | None:
    """What the traceback holds before the call, the module, and what it was given."""
    trace = error.__traceback__
    before: list[TracebackType] = []
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_code.co_filename == MODULE_FILE and frame.f_code.co_name in (
            "_wrapped_call_impl",
            "_call_impl",
        ):
            owner = frame.f_locals.get("self")
            if isinstance(owner, torch.nn.Module):
                return before, owner, frame.f_locals.get("args", ()), frame.f_locals.get("kwargs", {})
        before.append(trace)
        trace = trace.tb_next
    return None


class Recall(Replay):
    """The child's side: one call, observed, and compared with the exception that it raised."""

    def __init__(self, recorder: Any, view: Any, error: Exception, result: int) -> None:
        super().__init__(recorder, None, error, result)
        self.window, self.parameters = [], []
        self.view = view

    def run(
        self, module: torch.nn.Module, arguments: Any, keywords: Any, place: TracebackType | None
    ) -> None:
        """Make the call from the line of the program that made it, and leave the process."""
        self.recorder.replay = self
        raised: BaseException | None = None
        self.observer = self.observe(self.view)
        try:
            _from(place)(module, arguments, keywords)
        except BaseException as error:
            raised = error
        self.finish(raised, reached=False)


def _from(place: TracebackType | None) -> Any:
    """What makes a call, as if it stood at that place."""
    if place is None:
        return lambda module, arguments, keywords: module(*arguments, **keywords)
    code = place.tb_frame.f_code
    return at({"file": code.co_filename, "line": place.tb_lineno, "function": code.co_name})
