"""What the sealed process has inherited open: none of it may be moved, written, or listened to."""

from __future__ import annotations

import fcntl
import os
import posix
import select
import stat

from firstcause.sandbox.copies import copy_descriptor, status
from firstcause.sandbox.overlay import SINKS, Overlay

# A file that is open for both is copied, so that it can still be read; a larger one is silent instead.
LARGEST_HELD = 256 << 20
# What told how to open, and is no property of what is open; the kernel keeps O_TMPFILE, which demands a folder.
OPENING = os.O_CREAT | os.O_EXCL | os.O_TRUNC | os.O_CLOEXEC | os.O_TMPFILE


def redirect(overlay: Overlay, keep: frozenset[int]) -> int:
    """Replace every descriptor outside ``keep`` under its own number; how many were replaced.

    Writers, pipes, sockets and terminals become /dev/null, the standard streams in any case; files open for reading
    are opened again at their own offset, which the parent's descriptor does not share.
    """
    null = posix.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
    replaced = 0
    for descriptor in sorted(map(int, posix.listdir("/proc/self/fd"))):
        if descriptor == null or descriptor in keep:
            continue
        try:
            inheritable = posix.get_inheritable(descriptor)
        except OSError:
            # The descriptor of the listing itself.
            continue
        new = null if descriptor < 3 else _replacement(overlay, descriptor, null)
        if new is not None:
            posix.dup2(new, descriptor, inheritable)
            replaced += 1
            if new != null:
                posix.close(new)
    for descriptor in (0, 1, 2):
        if descriptor not in keep and descriptor != null and not _is_open(descriptor):
            # Else the next file that the program opens would become its stdout.
            posix.dup2(null, descriptor)
    if null > 2:
        posix.close(null)
    return replaced


def _replacement(overlay: Overlay, descriptor: int, null: int) -> int | None:
    found = posix.fstat(descriptor)
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    access = flags & os.O_ACCMODE
    if flags & os.O_PATH or (stat.S_ISCHR(found.st_mode) and found.st_rdev in SINKS):
        return None
    if stat.S_ISDIR(found.st_mode):
        # Opened again, because the position in a listing is shared as well.
        try:
            return posix.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except PermissionError:
            return null
    if stat.S_ISREG(found.st_mode):
        if access == os.O_RDONLY:
            return _reopened(overlay, descriptor, found, flags, null)
        return _copied(overlay, descriptor, found, flags, null) if access == os.O_RDWR else null
    if posix.readlink(f"/proc/self/fd/{descriptor}") == "anon_inode:[eventpoll]":
        # An event loop of the parent watches by it; an empty one of the child's own never wakes.
        with select.epoll() as empty:
            return posix.dup(empty.fileno())
    return null


def _reopened(overlay: Overlay, descriptor: int, found: os.stat_result, flags: int, null: int) -> int:
    try:
        new = posix.open(f"/proc/self/fd/{descriptor}", (flags & ~OPENING) | os.O_CLOEXEC)
    except PermissionError:
        # The program has given up the right to open it since.
        return _copied(overlay, descriptor, found, flags, null)
    return _at_same_offset(new, descriptor)


def _copied(overlay: Overlay, descriptor: int, found: os.stat_result, flags: int, null: int) -> int:
    if found.st_size > LARGEST_HELD:
        return null
    path = posix.readlink(f"/proc/self/fd/{descriptor}")
    present = status(path)
    if present is None or not os.path.samestat(present, found) or overlay.is_scratch(path):
        # It has no name any more.
        target = f"{overlay.scratch}/held-{descriptor}"
        copy_descriptor(descriptor, target)
    else:
        target = overlay.upper + path
        if status(target) is None:
            overlay.enter(path, path, writable=False)
            copy_descriptor(descriptor, target)
    return _at_same_offset(posix.open(target, (flags & ~OPENING) | os.O_CLOEXEC), descriptor)


def _at_same_offset(new: int, old: int) -> int:
    posix.lseek(new, posix.lseek(old, 0, os.SEEK_CUR), os.SEEK_SET)
    return new


def _is_open(descriptor: int) -> bool:
    try:
        posix.fstat(descriptor)
    except OSError:
        return False
    return True
