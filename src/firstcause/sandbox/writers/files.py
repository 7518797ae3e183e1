"""Python's own way to a file: ``open``, ``io.open``, ``os.open``; all that reads and writes in Python uses these."""

from __future__ import annotations

import _io
import builtins
import io
import os
import posix
from typing import Any

from firstcause.sandbox.writers import layer
from firstcause.sandbox.writers.rebind import replace

_open = _io.open
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
TEMPORARY = getattr(os, "O_TMPFILE", 0)


def open_file(
    file: Any,
    mode: str = "r",
    buffering: int = -1,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    closefd: bool = True,
    opener: Any = None,
) -> Any:
    """``open``, for a path whose file is in the layer or is about to be."""
    rest = (buffering, encoding, errors, newline, closefd)
    if not isinstance(mode, str) or not isinstance(file, (str, bytes, os.PathLike)):
        return _open(file, mode, *rest, opener)
    path = layer.text(file)
    if opener is not None:
        # The opener gets the path as given, and opens by os.open; the name before it is for the audit hook alone.
        opened = _open(layer.current().scratch, mode, *rest, lambda _, flags: opener(file, flags))
        return _named(opened, file)
    with layer.errors_name(file):
        if not set(mode) & set("wax+"):
            real = layer.current().for_reading(path)
        else:
            writing = {"keep": "w" not in mode, "create": "r" not in mode, "exclusive": "x" in mode}
            real = layer.current().for_writing(path, **writing)
        if real == path:
            return _open(file, mode, *rest)
        return _named(_open(real, mode, *rest), file)


def _named(opened: Any, file: Any) -> Any:
    raw = getattr(opened, "buffer", opened)
    raw = getattr(raw, "raw", raw)
    raw.name = file
    return opened


def open_descriptor(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
    """``os.open``, likewise."""
    here = layer.at(path, dir_fd)
    found = layer.current()
    follow = not flags & os.O_NOFOLLOW
    with layer.errors_name(path):
        if TEMPORARY and flags & TEMPORARY == TEMPORARY:
            folder = found.resolve(here)
            found.enter(f"{folder}/unnamed", here)
            real = found.upper + folder
        elif flags & WRITING:
            keep, create = not flags & os.O_TRUNC, bool(flags & os.O_CREAT)
            real = found.for_writing(
                here, keep=keep, create=create, exclusive=create and bool(flags & os.O_EXCL), follow=follow
            )
        else:
            real = found.for_reading(here, follow)
        return posix.open(real, flags, mode)


def patch() -> None:
    for module in (builtins, io, _io):
        replace(module, "open", open_file)
    replace(os, "open", open_descriptor)
