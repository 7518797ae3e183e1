"""The one layer of a sealed process, and the paths that programs hand to functions."""

from __future__ import annotations

import os
import posix
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from firstcause.sandbox.overlay import Overlay

_current: list[Overlay] = []


def use(overlay: Overlay) -> None:
    _current[:] = [overlay]


def current() -> Overlay:
    return _current[0]


def text(path: Any) -> str:
    """A path as text; raises the ``TypeError`` of ``os.fspath``."""
    return os.fsdecode(os.fspath(path))


def at(path: Any, dir_fd: int | None) -> str:
    """A path as text, told from the folder that a descriptor stands for."""
    given = text(path)
    if dir_fd is None or given.startswith("/"):
        return given
    return f"{of_descriptor(dir_fd)}/{given}"


def of_descriptor(descriptor: int) -> str:
    """The logical path of an open file or folder."""
    return current().logical(posix.readlink(f"/proc/self/fd/{descriptor}"))


@contextmanager
def errors_name(path: Any, other: Any = None) -> Iterator[None]:
    """Errors name the path that the program gave, not where its file is kept."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            error.filename = path if path is None or isinstance(path, int) else os.fspath(path)
            if other is not None:
                error.filename2 = os.fspath(other)
        raise


def for_reading(path: Any) -> str:
    """The real path to read, for native code."""
    return current().for_reading(text(path))


def for_writing(path: Any, keep: bool = False) -> str:
    """The real path to write, for native code; ``keep`` where the present content stays."""
    return current().for_writing(text(path), keep=keep)
