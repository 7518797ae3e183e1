"""The history of a case on disk: append-only lines, one writer, and nothing acknowledged is ever lost.

Beside the lines stands the head, the number and digest of the last line that was acknowledged: without it,
lines taken off the end would leave a chain that still fits.
"""

from __future__ import annotations

import errno
import fcntl
import os
import zlib
from dataclasses import dataclass
from typing import Any

from firstcause.case.event import START, Event, decode, digest, encode, now
from firstcause.errors import RecordError
from firstcause.fix.writing import sync_folder

HISTORY = "history.jsonl"
HEAD = "head"
_BACKUP = "restore the folder from a backup, or remove it and diagnose the run again"


@dataclass(frozen=True)
class Reading:
    """The events of a history, the digest of its last line, its good bytes, and the torn ones behind."""

    events: tuple[Event, ...]
    last: str
    size: int
    torn: bytes


def read(folder: str) -> Reading:
    """Read the history in ``folder``; no file reads as an empty one.

    A last line without its newline was being written when the machine or the process stopped: it was
    never acknowledged, and is reported as torn. Raises ``RecordError`` for any other damage, lines missing at
    the end among them.
    """
    path = os.path.join(folder, HISTORY)
    # Before the lines: another process may append meanwhile, and the head must never be ahead of them.
    head = _head(folder)
    try:
        with open(path, "rb") as file:
            content = file.read()
    except FileNotFoundError:
        if not os.path.isdir(folder):
            message = f"{folder} is gone: the folder of the case was removed or moved"
            raise RecordError("case-missing", message, "firstcause case list") from None
        content = b""
    except OSError as error:
        message = f"{path} cannot be read: {error}"
        raise RecordError("case-unreadable", message, "check its permissions") from error
    *lines, torn = content.split(b"\n")
    events: list[Event] = []
    last = START
    for number, line in enumerate(lines):
        try:
            events.append(decode(line, number, last))
        except ValueError as error:
            raise RecordError("case-damaged", f"{path}, line {number + 1}: {error}", _BACKUP) from error
        last = digest(line)
    if head is not None:
        _require_head(path, head, lines)
    return Reading(tuple(events), last, len(content) - len(torn), torn)


class Writer:
    """The one writer of a history: holds its lock from ``with`` to the end, sets a torn last line aside."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.events: list[Event] = []
        self._last = START
        self._fd = self._lock = self._head = -1

    def __enter__(self) -> Writer:
        self._lock = take_lock(self.folder)
        try:
            reading = read(self.folder)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._fd = os.open(os.path.join(self.folder, HISTORY), flags, 0o600)
            self._head = os.open(
                os.path.join(self.folder, HEAD), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600
            )
            self.events, self._last = list(reading.events), reading.last
            if reading.torn:
                self._set_aside(reading)
            if not reading.events:
                sync_folder(self.folder)
        except OSError as error:
            self.__exit__()
            raise _unwritable(self.folder, error) from error
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        for fd in (self._fd, self._head, self._lock):
            if fd >= 0:
                os.close(fd)
        self._fd = self._lock = self._head = -1

    def append(self, kind: str, data: dict[str, Any]) -> Event:
        """Append one event; when this returns, it is on the disk."""
        event = Event(len(self.events), now(), kind, data)
        line = encode(event, self._last)
        size = os.fstat(self._fd).st_size
        try:
            if os.write(self._fd, line + b"\n") < len(line) + 1:
                raise OSError("the disk took only a part of a line")
            os.fsync(self._fd)
            os.pwrite(self._head, head_line(event.seq, digest(line)), 0)
            os.fsync(self._head)
            if os.fstat(self._fd).st_nlink == 0:
                # A file without a name takes everything, and nobody finds it again.
                raise FileNotFoundError(errno.ENOENT, "the history was removed while it was written")
        except OSError as error:
            # What is not acknowledged must not be found later.
            os.ftruncate(self._fd, size)
            raise _unwritable(self.folder, error) from error
        self.events.append(event)
        self._last = digest(line)
        return event

    def _set_aside(self, reading: Reading) -> None:
        kept = f"torn-{reading.size}"
        fd = os.open(os.path.join(self.folder, kept), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(fd, reading.torn)
            os.fsync(fd)
        finally:
            os.close(fd)
        os.ftruncate(self._fd, reading.size)
        os.fsync(self._fd)
        if reading.events:
            self.append("recovered", {"bytes": len(reading.torn), "kept": kept})


def head_line(seq: int, last: str) -> bytes:
    """The head for a last line: always of one length, so that writing it anew needs no space."""
    text = f"{seq:010d} {last}"
    return f"{text} {zlib.crc32(text.encode()):08x}\n".encode()


def _head(folder: str) -> tuple[int, str] | None:
    """The number and digest of the last acknowledged line; None where it is not known."""
    try:
        with open(os.path.join(folder, HEAD), "rb") as file:
            content = file.read(100)
        seq, last, _ = content.decode("ascii").split()
        # A head that is not whole was torn, or damaged by itself: the chain of the lines is still a check.
        return (int(seq), last) if head_line(int(seq), last) == content else None
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        message = f"{os.path.join(folder, HEAD)} cannot be read: {error}"
        raise RecordError("case-unreadable", message, "check its permissions") from error


def _require_head(path: str, head: tuple[int, str], lines: list[bytes]) -> None:
    seq, last = head
    if seq >= len(lines):
        message = f"{path} ends after {len(lines)} lines, and line {seq + 1} was acknowledged: it was cut off"
        raise RecordError("case-damaged", message, _BACKUP)
    if digest(lines[seq]) != last:
        message = f"{path}, line {seq + 1} is not the one that was acknowledged: the history was written anew"
        raise RecordError("case-damaged", message, _BACKUP)


def take_lock(folder: str) -> int:
    """Lock ``folder`` for this writer and return the descriptor that holds the lock until it is closed.

    Raises ``RecordError`` where another process holds it.
    """
    try:
        fd = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except FileNotFoundError as error:
        message = f"{folder} is gone: the folder of the case was removed or moved"
        raise RecordError("case-missing", message, "firstcause case list") from error
    except OSError as error:
        raise _unwritable(folder, error) from error
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(fd, 0)
        os.pwrite(fd, str(os.getpid()).encode(), 0)
    except BlockingIOError as error:
        holder = os.pread(fd, 20, 0).decode("ascii", "replace") or "another process"
        os.close(fd)
        message = f"{folder} is being written by process {holder}"
        raise RecordError("case-busy", message, "wait until it has ended, then repeat") from error
    except OSError as error:
        os.close(fd)
        raise _unwritable(folder, error) from error
    return fd


def _unwritable(folder: str, error: OSError) -> RecordError:
    message = f"{folder} cannot be written: {error}"
    return RecordError("case-unwritable", message, "free space or fix its permissions")
