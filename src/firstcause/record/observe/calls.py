"""The calls of models outside of training: which are open in each thread, and what is done when one goes wrong.

Nothing is kept of a call that went well but its number. Inputs are held by reference while the call runs, as the
call itself holds them; on CUDA, small ones are copied to the host in the stream's own order, without waiting, since
a context that a kernel's assertion has ended gives nothing back.
"""

from __future__ import annotations

import atexit
import threading
from collections import deque
from collections.abc import Iterator
from types import BuiltinFunctionType, FrameType, FunctionType, MethodType, TracebackType
from typing import TYPE_CHECKING, Any

import torch

from firstcause.record.observe import call_failure
from firstcause.record.observe.call import Call, has_values, is_bad, on_live_device, outputs_of
from firstcause.record.observe.call_sites import SITES
from firstcause.record.observe.dead_device import HostRing, is_dead
from firstcause.record.observe.guard import unseen
from firstcause.record.observe.kept import tensors_in

if TYPE_CHECKING:
    from firstcause.record.observe.arrival import Arrival
    from firstcause.record.observe.session import Session

PLAIN_FUNCTIONS = (FunctionType, BuiltinFunctionType)
# Distinct failures that are captured; of the others only the number is kept.
MOST = 3


class Calls:
    """One process's calls; each thread has its own stack of those that are open."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.local = threading.local()
        self.lock = threading.Lock()
        self.made = 0
        self.seen: dict[tuple[str, int], int] = {}
        # The last calls that had inputs on CUDA: an assertion there is told of later than it happens.
        self.lately: deque[Call] = deque(maxlen=4)
        self.ring: HostRing | None = None
        self.arrival: Arrival | None = session.arrival
        if not session.replay:
            atexit.register(self._tell)

    # ------------------------------------------------------------------ what marked code calls

    def begin(self, s: int, function: Any, frame: FrameType) -> None:
        opened = self.local.__dict__.setdefault("opened", [])
        call = None
        try:
            owner = self._owner(function)
            if owner is not None:
                if self.arrival is not None:
                    self.arrival.at_site(SITES[s], function, owner)
                with unseen():
                    call = Call(s, function, owner, id(frame))
        except Exception as failed:
            self._failed(failed, "a call")
        opened.append(call)

    def given(self, key: int | str, value: Any) -> None:
        opened = self.local.__dict__.get("opened")
        if not opened or opened[-1] is None:
            return
        try:
            call = opened[-1]
            call.arguments.append((key, value))
            for tensor in tensors_in(value):
                if tensor.is_cuda and on_live_device() and has_values(tensor):
                    self._to_host(call, tensor)
                if not tensor.is_inference() and has_values(tensor):
                    call.versions.append((tensor, tensor._version))
        except Exception as failed:
            self._failed(failed, "a call's argument")

    def end(self, value: Any) -> None:
        opened = self.local.__dict__.get("opened")
        if not opened:
            return
        call = opened.pop()
        if call is None:
            return
        self.made += 1
        call.number = self.made
        if call.hosts:
            self.lately.append(call)
        if self._replaying() or self._has_trained():
            return
        try:
            with unseen():
                bad = any(map(is_bad, outputs_of(value)))
            if bad:
                call_failure.not_finite(self, call, value)
        except Exception as failed:
            self._failed(failed, "a call's output")

    def raised(self, s: int, error: BaseException | None, frame: FrameType) -> None:
        opened = self.local.__dict__.get("opened") or []
        frames = {id(frame), *(id(t.tb_frame) for t in _entries(error))}
        call = None
        while opened and (opened[-1] is None or opened[-1].frame_id in frames):
            last = opened.pop()
            call = call or last
        try:
            if isinstance(error, Exception) and not isinstance(error, (StopIteration, StopAsyncIteration)):
                if call is not None and _entered(call, error, frame):
                    self.made += 1
                    call.number = self.made
                    if not self._replaying():
                        call_failure.exception(self, call, error, frame)
                elif not self._replaying():
                    call_failure.late(self, error, frame)
        except Exception as failed:
            self._failed(failed, "a call that raised")

    def late(self, error: Exception) -> None:
        """An exception that ends the program may be a device's word of a call before."""
        last = list(_entries(error))[-1:]
        if last and not self._replaying():
            call_failure.late(self, error, last[0].tb_frame)

    # ------------------------------------------------------------------ inside

    def _tell(self) -> None:
        """At the program's end: how many calls there were, and how many failed in which way."""
        if self.seen and not self.session.off and not self._replaying():
            try:
                self.session.journal.event(
                    "calls", made=self.made, failed=[[list(k), n] for k, n in self.seen.items()]
                )
            except Exception:
                self.session.failed("the number of calls")

    def is_new(self, key: tuple[str, int]) -> bool:
        """Count one more failure of this kind; whether it is the first, and one of those that are captured."""
        with self.lock:
            count = self.seen[key] = self.seen.get(key, 0) + 1
            new = count == 1 and len(self.seen) <= MOST
        if count & (count - 1) == 0:
            self.session.journal.event("call-failed", key=list(key), count=count, calls=self.made)
        return new

    def _replaying(self) -> bool:
        recorder = self.session.recorder
        return self.session.replay is not None or (recorder is not None and recorder.replay is not None)

    def _has_trained(self) -> bool:
        return self.session.recorder is not None and self.session.recorder.step > 0

    def _owner(self, function: Any) -> Any:
        """The module that is called, or the object that holds one; None where no model is called."""
        kind = type(function)
        if issubclass(kind, torch.nn.Module):
            return function
        if kind in PLAIN_FUNCTIONS or issubclass(kind, type):
            return None
        holder = function.__self__ if kind is MethodType else function
        if isinstance(holder, torch.nn.Module):
            return holder
        attributes = getattr(holder, "__dict__", None)
        finder = self.session.finder
        if type(attributes) is not dict or kind is MethodType or finder is None:
            return None
        return holder if any(isinstance(v, torch.nn.Module) for v in attributes.values()) else None

    def _to_host(self, call: Call, tensor: torch.Tensor) -> None:
        with unseen(), torch.no_grad():
            if self.ring is None:
                self.ring = HostRing()
            host = self.ring.keep(tensor)
        if host is not None:
            call.hosts[id(tensor)] = host

    def _failed(self, error: Exception, where: str) -> None:
        # The program is told of a dead device by its own next call.
        if not is_dead(error):
            self.session.failed(where)


def _entries(error: BaseException | None) -> Iterator[TracebackType]:
    trace = error.__traceback__ if error is not None else None
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _entered(call: Call, error: BaseException, frame: FrameType) -> bool:
    """Whether the exception comes from inside the call, and not from what its arguments are made of."""
    inside = False
    for entry in _entries(error):
        inside = inside or entry.tb_frame is frame
        if inside and entry.tb_frame is not frame:
            own = entry.tb_frame.f_locals
            first = own.get("args") or (None,)
            if own.get("self") is call.owner or (
                isinstance(first, tuple) and first and first[0] is call.owner
            ):
                return True
    return False
