"""Signals: the sealed process has none of the program's handlers, and the parent hears nothing of its child's death."""

from __future__ import annotations

import os
import posix
import signal

from firstcause.sandbox import libc

DEFAULT = bytes(256)
# What Python itself ignores from the start, and Ctrl-C, which is the parent's to answer.
IGNORED = frozenset((signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ))
UNCHANGEABLE = frozenset((signal.SIGKILL, signal.SIGSTOP))


def reset() -> None:
    """Put every handler back to its default; in the main thread only."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - UNCHANGEABLE:
        signal.signal(number, signal.SIG_IGN if number in IGNORED else signal.SIG_DFL)


def hold() -> set[int]:
    """Block every signal of this thread around a fork; gives the mask to go back to."""
    return set(signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals()))


def release(mask: set[int]) -> None:
    """Go back to a mask; handlers that are due run here, and may raise."""
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)


class Unheard:
    """From now on until ``end`` no child's death is signalled; then those of the program's own children are made up for.

    SIGCHLD is set to its default in the kernel: blocking it would only send it to another thread of the program, and
    where the program ignores it, the child's exit status would be lost.
    """

    def __init__(self) -> None:
        self._owed = signal.SIGCHLD in signal.sigpending()
        self._dead = _dead_child()
        self._handling = libc.handle(signal.SIGCHLD, DEFAULT)

    def end(self) -> None:
        # Once more: that also discards the signal where the program has blocked it.
        libc.handle(signal.SIGCHLD, DEFAULT)
        libc.handle(signal.SIGCHLD, self._handling)
        if self._owed or _dead_child() != self._dead:
            posix.kill(posix.getpid(), signal.SIGCHLD)


def _dead_child() -> int | None:
    try:
        found = posix.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return found.si_pid if found is not None else None
