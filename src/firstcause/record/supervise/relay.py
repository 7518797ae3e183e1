"""Signals on their way to the command, so that it hears each one as often as it would without us.

What was sent to this process alone is passed on. What was sent to all of its group (Ctrl-C, ``timeout``) or to every
process of a job (a scheduler) has reached the command already: a witness beside it, which only notes what reaches
itself, tells the one from the other.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable
from types import TracebackType

from firstcause.sandbox.lifetime import die_with

# Faults of a process itself, and what stops it or tells of its terminal, stay its own.
_FAULTS = {signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV, signal.SIGSYS}
_LIMITS = {signal.SIGTRAP, signal.SIGPIPE, signal.SIGXCPU, signal.SIGXFSZ}
_STOPS = {signal.SIGKILL, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
_TOLD = {signal.SIGURG, signal.SIGWINCH}
HEARD = frozenset(signal.valid_signals()) - _FAULTS - _LIMITS - _STOPS - _TOLD
# What would end us while the ending of the command is written down.
LATE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# How much later than us the witness may note what was sent to all.
LATER = 0.1


class Relay:
    """From ``with`` on signals wait; ``start`` says how the command begins, ``wait`` passes them on until its end.

    Afterwards those of ``LATE`` do nothing: the command that they were meant for has ended.
    """

    def __init__(self) -> None:
        self._mask: set[int] = set()
        self._witness: _Witness | None = None

    def __enter__(self) -> Relay:
        self._mask = set(signal.pthread_sigmask(signal.SIG_BLOCK, HEARD))
        # Where it is ignored, as some schedulers leave it, the kernel would keep the command's ending from us.
        self._child = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._witness is not None:
            self._witness.end()
        signal.signal(signal.SIGCHLD, self._child)
        while error is None and signal.sigtimedwait(HEARD, 0) is not None:
            continue
        for number in LATE:
            if error is None and signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, lambda number, frame: None)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)

    @property
    def start(self) -> Callable[[], None]:
        """What the new process does before it becomes the command: hear as we did, and end when we are killed."""
        parent, mask, ignored = os.getpid(), self._mask, self._child == signal.SIG_IGN

        def begin() -> None:
            die_with(parent)
            if callable(signal.getsignal(signal.SIGINT)):
                # A Ctrl-C that comes before the command is there ends it, as it would end the command.
                signal.signal(signal.SIGINT, signal.SIG_DFL)
            if ignored:
                signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

        return begin

    def watch(self) -> None:
        """Set the witness beside the command, which has just been started: what waits until now goes to the command."""
        self._witness = _Witness.started()

    def wait(self, process: subprocess.Popen[bytes]) -> int:
        """The exit code of the command, negative for a signal; until then signals are passed on to it."""
        while True:
            number = signal.sigwait(HEARD)
            if number == signal.SIGCHLD:
                code = process.poll()
                if code is not None:
                    return code
            elif self._witness is None or not self._witness.saw(number):
                process.send_signal(number)


class _Witness:
    """A process in our group that has no part in anything and notes the signals that reach it."""

    def __init__(self, process: int, notes: int) -> None:
        self._process = process
        self._notes = notes
        self._noted: list[tuple[int, float]] = []

    @classmethod
    def started(cls) -> _Witness | None:
        """A new one; None where there may be no more processes."""
        parent = os.getpid()
        notes, pen = os.pipe()
        try:
            process = os.fork()
        except OSError:
            os.close(notes)
            os.close(pen)
            return None
        if process == 0:
            try:
                _note(parent, pen)
            finally:
                os._exit(0)
        os.close(pen)
        os.set_blocking(notes, False)
        return cls(process, notes)

    def saw(self, number: int) -> bool:
        """Whether this signal, which has just reached us, has reached the witness too."""
        end = time.monotonic() + LATER
        while True:
            left = end - time.monotonic()
            fresh = [(n, at) for n, at in self._noted if at >= end - 2 * LATER]
            self._noted = fresh
            mine = next((one for one in fresh if one[0] == number), None)
            if mine is not None:
                self._noted.remove(mine)
                return True
            if left <= 0 or not select.select([self._notes], [], [], left)[0]:
                return False
            noted = os.read(self._notes, 64)
            if not noted:
                return False
            self._noted += [(n, time.monotonic()) for n in noted]

    def end(self) -> None:
        os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        os.close(self._notes)


def _note(parent: int, pen: int) -> None:
    die_with(parent)
    # Nothing of the command's is held open: the end of its streams must be seen, and its disks unmounted.
    os.dup2(pen, 0)
    os.closerange(1, 1 << 16)
    os.chdir("/")
    while True:
        number = signal.sigwait(HEARD)
        if number != signal.SIGCHLD:
            os.write(0, bytes([number]))
