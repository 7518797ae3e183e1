"""Which paths a call may name: those of the project in which the server was started."""

from __future__ import annotations

import os

from firstcause.errors import InputError


def inside(path: str) -> str:
    """The path, where it lies in the project; raises ``InputError`` where it does not."""
    root, real = os.path.realpath(os.getcwd()), os.path.realpath(path)
    if path.startswith("-") or os.path.commonpath([root, real]) != root:
        message = f"{path!r} is no path in {root}"
        raise InputError(
            "path-outside", message, "name a path of the project in which the server was started"
        )
    return path
