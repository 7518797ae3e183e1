"""An exception by the program's own frames, and the sizes of what they hold."""

from __future__ import annotations

import traceback
from types import FrameType
from typing import Any

from firstcause.lab import places
from firstcause.lab.loading.forms import shape

Facts = dict[str, Any]
FRAMES, NAMES = 6, 40


def described(error: BaseException) -> Facts:
    """Type, message and the program's frames, outermost first; those of a cause before its effect's."""
    return {
        "type": type(error).__name__,
        "message": str(error)[:400],
        "frames": [places.standing(f) | {"line": n} for f, n in own(error)],
    }


def own(error: BaseException) -> list[tuple[FrameType, int]]:
    """The program's frames that an exception passed, with the lines that raised; outermost first."""
    found = [
        (f, n) for f, n in traceback.walk_tb(error.__traceback__) if places.is_user_file(f.f_code.co_filename)
    ]
    return found[-FRAMES:]


def sizes(space: dict[str, Any]) -> dict[str, list[int]]:
    """The sizes of a frame's names; a whole number is its own size."""
    found: dict[str, list[int]] = {}
    for name, value in list(space.items())[:NAMES]:
        size = [value] if type(value) is int else shape(value)
        if size:
            found[name] = size
    return found
