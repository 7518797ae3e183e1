"""What a project says of firstcause: the table beneath ``[tool]`` of the nearest pyproject.toml that has it."""

from __future__ import annotations

import os
import sys
from typing import Any

from firstcause.errors import InputError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def nearest_table(cwd: str, *names: str) -> tuple[dict[str, Any], str] | None:
    """The table ``tool.names…`` of the first pyproject.toml at or above a folder that has it, and that file's path.

    Raises ``InputError`` for a file on the way that cannot be read.
    """
    folder = os.path.abspath(cwd)
    while True:
        path = os.path.join(folder, "pyproject.toml")
        table = _table(path, names) if os.path.isfile(path) else None
        if table is not None:
            return table, path
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _table(path: str, names: tuple[str, ...]) -> dict[str, Any] | None:
    try:
        with open(path, "rb") as file:
            found: Any = tomllib.load(file)
    except (OSError, ValueError, RecursionError) as error:
        message = f"{path} cannot be read: {error}"
        raise InputError("settings-unreadable", message, "correct it, or move it away") from error
    for name in ("tool", *names):
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else None
