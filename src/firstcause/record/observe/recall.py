"""An exception outside of every unit: the module call that it passed is made once more, in a sealed child.

Predictions, validations and request handlers have no optimizer step to rewind to. But the exception's traceback
holds the outermost call of a module with its arguments, and that call can be repeated and watched.
"""

from __future__ import annotations

import os
import sys
from types import FrameType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch

from firstcause.record.observe import exceptions, failure
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
    frame, module, arguments, keywords = call
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
        Recall(recorder, view, error, result).run(module, arguments, keywords)


def _outermost_call(error: Exception) -> tuple[FrameType | None, torch.nn.Module, Any, Any] | None:
    trace = error.__traceback__
    before: FrameType | None = None
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_code.co_filename == MODULE_FILE and frame.f_code.co_name in (
            "_wrapped_call_impl",
            "_call_impl",
        ):
            owner = frame.f_locals.get("self")
            if isinstance(owner, torch.nn.Module):
                return before, owner, frame.f_locals.get("args", ()), frame.f_locals.get("kwargs", {})
        before = frame
        trace = trace.tb_next
    return None


class Recall(Replay):
    """The child's side: one call, observed, and compared with the exception that it raised."""

    def __init__(self, recorder: Any, view: Any, error: Exception, result: int) -> None:
        super().__init__(recorder, None, error, result)
        self.window, self.parameters = [], []
        self.view = view

    def run(self, module: torch.nn.Module, arguments: Any, keywords: Any) -> None:
        """Make the call and leave the process."""
        self.recorder.replay = self
        raised: BaseException | None = None
        self.observer = self.observe(self.view)
        try:
            module(*arguments, **keywords)
        except BaseException as error:
            raised = error
        self.finish(raised, reached=False)
