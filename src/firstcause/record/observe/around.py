"""The recorder of a run that is told where it will fail: statements outside of every step are replayed there."""

from __future__ import annotations

import os
from types import FrameType
from typing import TYPE_CHECKING, Any

from firstcause.record.observe import failure, stretches, units
from firstcause.record.observe.dead_device import is_dead
from firstcause.record.observe.marks import CANDIDATES
from firstcause.record.observe.recorder import Recorder
from firstcause.record.observe.snapshot import Snapshot

if TYPE_CHECKING:
    from firstcause.record.observe.session import Session


def recorder(session: Session) -> Recorder:
    """The recorder of this process: the usual one, where no place was told."""
    told = os.environ.get(stretches.VARIABLE) and session.replay is None
    return AroundRecorder(session) if told else Recorder(session)


class AroundRecorder(Recorder):
    """Keeps the state at the top of each stretch beside what is kept for the steps."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.stretches: dict[int, Snapshot] = {}

    def _awake(self, k: int) -> bool:
        return (self.replay is None and _is_stretch(k)) or super()._awake(k)

    def _mark(self, k: int, values: dict[str, Any], frame: FrameType) -> None:
        if self.replay is not None or not _is_stretch(k):
            super()._mark(k, values, frame)
            return
        self.deferred.settle()
        self._look_around(k, frame, values)
        snapshot = Snapshot(k, CANDIDATES[k].names, frame)
        # What the statements write is not known before they have run: everything is copied.
        snapshot.keep_values(values, frozenset(values))
        snapshot.keep_generators(self.reachable.generators.values())
        snapshot.keep_buffers(self.buffers)
        self._keep_objects(snapshot)
        self.stretches.pop(k, None)
        self.stretches[k] = snapshot

    def _exception(self, k: int, error: BaseException | None, frame: FrameType) -> bool:
        if not _is_stretch(k) or self.failed:
            return super()._exception(k, error, frame)
        if not isinstance(error, Exception) or isinstance(error, (StopIteration, StopAsyncIteration)):
            return False
        try:
            if self._outermost(error) != k:
                return False
            self.unit, self.window, self.window_complete = k, [self.stretches[k]], True
            self._stepped, self.before, self.losses, self.pending = [], [], [], False
            return failure.exception(self, error)
        except Exception as own:
            if not is_dead(own):
                self.session.failed("an exception outside of every step")
            return False

    def _outermost(self, error: BaseException) -> int | None:
        """Of the stretches, in the order of their marks, the one that the exception's frames stand in first."""
        at = {id(frame): frame.f_code for frame, _ in units.raised(error)}
        return next((k for k, s in self.stretches.items() if at.get(s.frame_id) is s.code), None)


def _is_stretch(k: int) -> bool:
    return CANDIDATES[k].kind == stretches.KIND
