"""How the program names a value: a variable, an attribute or an item in one of the frames that are running."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from firstcause.lab import places

MOST_FRAMES = 30
MOST_ITEMS = 64


def name_in(frame: FrameType | None, value: Any) -> dict[str, Any]:
    """``text``: what the innermost frame of the program calls it; ``bound``: where the outermost one holds it, and as what."""
    found: dict[str, Any] = {}
    for _ in range(MOST_FRAMES):
        if frame is None:
            break
        if places.is_user_file(frame.f_code.co_filename):
            text = next((t for t, v in named(frame) if v is value), None)
            if text is not None:
                found.setdefault("text", text)
                found["bound"] = places.place(
                    frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name
                ) | {"text_there": text}
        frame = frame.f_back
    return found


def named(frame: FrameType) -> Iterator[tuple[str, Any]]:
    """The values that a frame reaches by a name, an attribute of a name, or an item of a small dict."""
    variables = dict(frame.f_locals) if frame.f_locals is not frame.f_globals else dict(frame.f_globals)
    yield from variables.items()
    for name, holder in list(variables.items()):
        if isinstance(holder, dict):
            for key, value in list(holder.items())[:MOST_ITEMS]:
                if isinstance(key, (str, int)):
                    yield f"{name}[{key!r}]", value
        elif isinstance(holder, (list, tuple)):
            yield from ((f"{name}[{i}]", v) for i, v in enumerate(holder[:MOST_ITEMS]))
        elif places.is_user_file(_file_of(type(holder))):
            yield from ((f"{name}.{k}", v) for k, v in list(getattr(holder, "__dict__", {}).items()))
            for table in ("_buffers", "_parameters"):
                held = getattr(holder, "__dict__", {}).get(table)
                yield from ((f"{name}.{k}", v) for k, v in (held or {}).items())


def _file_of(kind: type) -> str:
    module = sys.modules.get(kind.__module__)
    return getattr(module, "__file__", None) or "<"
