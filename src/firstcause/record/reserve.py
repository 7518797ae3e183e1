"""Room on the disk that a run holds for its last words: where the disk is full, they are written all the same."""

from __future__ import annotations

import errno
import os

NAME = "reserve"
BYTES = 32 << 10
FULL = (errno.ENOSPC, errno.EDQUOT)


def take(folder: str) -> None:
    """Hold room in ``folder``; raises ``OSError`` where the disk has none."""
    path = os.path.join(folder, NAME)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, BYTES)
    except OSError as error:
        os.unlink(path)
        if error.errno in FULL:
            raise
        # A limit on file sizes, or a file system that holds no room: then it goes without.
    finally:
        os.close(descriptor)


def give(folder: str) -> bool:
    """Let go of the room; whether any was held."""
    try:
        os.unlink(os.path.join(folder, NAME))
    except OSError:
        return False
    return True
