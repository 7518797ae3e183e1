"""An exception with its whole chain as plain data: types, messages, and the frames of the user's code."""

from __future__ import annotations

import linecache
import traceback
from types import TracebackType
from typing import Any

from firstcause.record.observe import privacy

LIMIT = 2000


def describe(error: BaseException) -> list[dict[str, Any]]:
    """The chain, the raised exception first, then what it was raised from; each with all its frames."""
    chain: list[dict[str, Any]] = []
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen and len(chain) < 8:
        seen.add(id(current))
        chain.append(
            {
                "type": type(current).__name__,
                "module": type(current).__module__,
                "message": _message(current),
                "frames": frames(current.__traceback__),
            }
        )
        if privacy.asked():
            said = chain[-1]
            said["message"] = privacy.message(said["type"], said["message"], said["frames"])
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return chain


def frames(trace: TracebackType | None) -> list[dict[str, Any]]:
    """The frames of a traceback, outermost first: file, line, function, text."""
    return [
        {
            "file": frame.f_code.co_filename,
            "line": line,
            "function": frame.f_code.co_name,
            "text": linecache.getline(frame.f_code.co_filename, line).strip(),
        }
        for frame, line in traceback.walk_tb(trace)
    ][-200:]


def _message(error: BaseException) -> str:
    try:
        return str(error)[:LIMIT]
    except Exception:
        # A user's __str__ may itself fail.
        return f"<{type(error).__name__} that cannot be shown>"
