"""Looking at real files and copying them, by the functions that nobody has replaced."""

from __future__ import annotations

import os
import posix
import stat
from typing import NoReturn

from firstcause.sandbox.refusal import refuse

# A replay has seconds: copying more than this, so as to change a few bytes of it, would use them up.
LARGEST_COPY = 1 << 30


def status(path: str) -> os.stat_result | None:
    """The real lstat, or None."""
    try:
        return posix.lstat(path)
    except OSError:
        return None


def is_folder(path: str) -> bool:
    found = status(path)
    return found is not None and stat.S_ISDIR(found.st_mode)


def fail(number: int, path: str) -> NoReturn:
    raise OSError(number, os.strerror(number), path)


def make_folders(path: str) -> None:
    if not is_folder(path):
        make_folders(os.path.dirname(path))
        posix.mkdir(path)


def copy(source: str, target: str) -> None:
    """Copy content, mode and times of a real file.

    Raises ``SealError`` where it is larger than a replay can copy.
    """
    size = posix.stat(source).st_size
    if size > LARGEST_COPY:
        refuse(
            "seal-copy", f"changes {source}, {size} bytes, more than the {LARGEST_COPY} that a replay copies"
        )
    reading = posix.open(source, os.O_RDONLY | os.O_CLOEXEC)
    try:
        copy_descriptor(reading, target)
    finally:
        posix.close(reading)


def copy_descriptor(reading: int, target: str) -> None:
    """The same for an open file, whose offset stays where it is."""
    found = posix.fstat(reading)
    writing = posix.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        at = 0
        while block := posix.pread(reading, 1 << 20, at):
            at += len(block)
            while block:
                block = block[posix.write(writing, block) :]
        posix.fchmod(writing, stat.S_IMODE(found.st_mode) | stat.S_IRUSR | stat.S_IWUSR)
    finally:
        posix.close(writing)
    posix.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns))


def link(path: str) -> str | None:
    """Where a symbolic link leads, or None for anything else."""
    try:
        target = posix.readlink(path)
    except OSError:
        return None
    # /proc/self/fd/1 -> pipe:[123] leads nowhere; the kernel follows such links itself.
    return None if path.startswith("/proc/") and not target.startswith("/") else target


def copy_tree(source: str, target: str) -> None:
    """Copy a real folder with all that is in it; nothing where there is no such folder."""
    if not is_folder(source):
        return
    make_folders(target)
    for name in posix.listdir(source):
        found, here, there = status(f"{source}/{name}"), f"{source}/{name}", f"{target}/{name}"
        if found is None:
            continue
        if stat.S_ISDIR(found.st_mode):
            copy_tree(here, there)
        elif stat.S_ISLNK(found.st_mode):
            posix.symlink(posix.readlink(here), there)
        elif stat.S_ISREG(found.st_mode):
            copy(here, there)


def remove_tree(path: str) -> None:
    """Remove a real folder with all that is in it; nothing where there is no such folder."""
    if not is_folder(path):
        return
    for name in posix.listdir(path):
        here = f"{path}/{name}"
        if is_folder(here):
            remove_tree(here)
        else:
            posix.unlink(here)
    posix.rmdir(path)
