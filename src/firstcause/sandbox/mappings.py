"""Memory that the process shares with others: a write to it would be seen in the parent, or in the user's file.

A ``numpy.memmap`` in mode ``r+``, a tensor in shared memory, the semaphores of a data loader: no descriptor and no
file permission stands between the child and them.
"""

from __future__ import annotations

import _io
import os
import posix

from firstcause.sandbox import libc

READ, WRITE, EXECUTE = 1, 2, 4


def make_private() -> int:
    """Put a private copy over every shared mapping that can be written; how many there were.

    Files are mapped again copy-on-write, at no cost; other memory is copied.
    """
    made = 0
    with _io.open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        lines = file.read().splitlines()
    for line in lines:
        span, modes, offset, device, inode, *path = line.split(None, 5)
        if "w" not in modes or not modes.endswith("s") or _is_device(path[0] if path else ""):
            continue
        start, end = (int(x, 16) for x in span.split("-"))
        protection = READ * ("r" in modes) + WRITE + EXECUTE * ("x" in modes)
        descriptor = _file(path[0] if path else "", device, int(inode), span)
        if descriptor is None:
            libc.copy_privately(start, end - start, protection)
        else:
            libc.map_privately(start, end - start, protection, descriptor, int(offset, 16))
            posix.close(descriptor)
        made += 1
    return made


def _is_device(path: str) -> bool:
    return path.startswith("/dev/") and not path.startswith(("/dev/shm/", "/dev/zero"))


def _file(path: str, device: str, inode: int, span: str) -> int | None:
    """The mapped file opened for reading, if it still has a name and can be opened."""
    # Unlinked files keep an entry here, which only root may open.
    for candidate in (path, f"/proc/self/map_files/{span}"):
        if inode and candidate.startswith("/") and not path.startswith("/dev/zero"):
            try:
                descriptor = posix.open(candidate, os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                continue
            found = posix.fstat(descriptor)
            if (
                found.st_ino == inode
                and f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}" == device
            ):
                return descriptor
            posix.close(descriptor)
    return None
