"""Running on in two: the program, which waits and goes on unchanged, and a sealed copy of it, which may do anything."""

from __future__ import annotations

import os
import posix
import re
import select
import sys
import warnings
from dataclasses import dataclass
from typing import Literal

from firstcause.sandbox import libc, lifetime, memory, refusal, signals
from firstcause.sandbox.libc import monotonic

SEAL_FAILED = 70
# How long a killed child may take to go: the kernel frees its memory first.
GOING = 5.0


@dataclass(frozen=True)
class Outcome:
    """How the sealed child ended, as its parent sees it; ``exit_code`` is None where the program took it first."""

    status: Literal["done", "timeout", "killed", "no-memory", "fork-failed", "seal-failed"]
    exit_code: int | None = None
    signal: int | None = None
    seconds: float = 0.0
    reason: str = ""


def split(scratch: str, keep: frozenset[int], seconds: float) -> Outcome | None:
    """Fork; None in the sealed child, the child's outcome in the parent, after at most ``seconds``.

    The child may write beneath the folder ``scratch`` and to the open descriptors ``keep``, and ends by
    ``lifetime.leave`` (or any ``os._exit``); exit code 70 says that it could not be sealed. Functions that the program
    gave to ``os.register_at_fork`` run, in both.
    """
    short = memory.shortage()
    if short:
        return Outcome("no-memory", reason=short)
    parent, started = posix.getpid(), monotonic()
    mask, unheard = signals.hold(), signals.Unheard()
    # Importing random seeds it anew in every child: the copy would not be one.
    shuffling = getattr(sys.modules.get("random"), "_inst", None)
    state = shuffling.getstate() if shuffling is not None else None
    try:
        with refusal.own():
            child = _fork()
    except OSError as error:
        unheard.end()
        signals.release(mask)
        return Outcome("fork-failed", reason=str(error))
    if child == 0:
        _become_sealed(scratch, keep, parent, mask)
        if shuffling is not None:
            shuffling.setstate(state)
        return None
    waiting = _Child(child)
    try:
        signals.release(mask)
        ended = waiting.ends_within(seconds)
    finally:
        waiting.kill()
        unheard.end()
    return _outcome(waiting.status, ended, monotonic() - started, scratch)


def again() -> int:
    """Fork a process that is sealed already: 0 in the child, which is sealed as it is, and ends with it."""
    parent = posix.getpid()
    with refusal.own():
        child = _fork()
    if child == 0:
        libc.prctl(libc.PR_SET_PDEATHSIG, 9)
        if posix.getppid() != parent:
            lifetime.leave(SEAL_FAILED)
    return child


def _become_sealed(scratch: str, keep: frozenset[int], parent: int, mask: set[int]) -> None:
    try:
        lifetime.bind_to_parent()
        if posix.getppid() != parent:
            lifetime.leave(SEAL_FAILED)
        from firstcause.sandbox.seal import seal

        seal(scratch, keep)
        signals.release(mask)
    except BaseException as error:  # noqa: BLE001 - a child that is not sealed runs nothing
        try:
            os.makedirs(scratch, exist_ok=True)
            descriptor = posix.open(_reason_file(scratch), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            posix.write(descriptor, f"{type(error).__name__}: {error}".encode())
        finally:
            lifetime.leave(SEAL_FAILED)


def _fork() -> int:
    """``os.fork``, not as the program may have replaced it, and without the warning of Python 3.12 about threads.

    ``warnings.catch_warnings`` would make Python forget which warnings it has shown already, and show them again.
    """
    if sys.version_info < (3, 12):
        return posix.fork()
    entry = ("ignore", re.compile(r"This process \(pid="), DeprecationWarning, None, 0)
    filters = warnings.filters
    filters.insert(0, entry)
    try:
        return posix.fork()
    finally:
        filters.remove(entry)


class _Child:
    """One child, waited for by its number alone."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.status: int | None = None
        self.gone = False

    def ends_within(self, seconds: float) -> bool:
        end = monotonic() + seconds
        try:
            descriptor = posix.pidfd_open(self.number)
        except (OSError, AttributeError):
            # Linux before 5.3, or Python built on it.
            return self._polled(end)
        try:
            waiting = select.poll()
            waiting.register(descriptor, select.POLLIN)
            ready = waiting.poll(max(0.0, end - monotonic()) * 1000)
        finally:
            posix.close(descriptor)
        return bool(ready) and self._reaped()

    def kill(self) -> None:
        if not self.gone and not self._reaped():
            with refusal.own():
                posix.kill(self.number, 9)
            self._polled(monotonic() + GOING)

    def _polled(self, end: float) -> bool:
        pause, nothing = 1, select.poll()
        while not self._reaped():
            if monotonic() >= end:
                return False
            nothing.poll(pause)
            pause = min(2 * pause, 20)
        return True

    def _reaped(self) -> bool:
        try:
            number, status = posix.waitpid(self.number, os.WNOHANG)
        except ChildProcessError:
            # Another thread of the program waits for any child.
            self.gone = True
            return True
        if number:
            self.gone, self.status = True, status
        return self.gone


def _outcome(status: int | None, ended: bool, seconds: float, scratch: str) -> Outcome:
    code = posix.waitstatus_to_exitcode(status) if status is not None else None
    exit_code, signal = (None, -code) if code is not None and code < 0 else (code, None)
    if not ended:
        return Outcome("timeout", None, signal, seconds)
    if signal is not None:
        return Outcome("killed", None, signal, seconds)
    if exit_code == SEAL_FAILED:
        return Outcome("seal-failed", exit_code, None, seconds, _reason(scratch))
    return Outcome("done", exit_code, None, seconds)


def _reason(scratch: str) -> str:
    try:
        descriptor = posix.open(_reason_file(scratch), os.O_RDONLY)
    except OSError:
        return ""
    try:
        return posix.read(descriptor, 4096).decode(errors="replace")
    finally:
        posix.close(descriptor)


def _reason_file(scratch: str) -> str:
    return f"{scratch}/seal-failed"
