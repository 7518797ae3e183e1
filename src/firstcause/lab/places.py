"""Where an op stands in the user's code: the innermost frame that is the user's, forward or backward."""

from __future__ import annotations

import linecache
import os
import sys
import sysconfig
from collections.abc import Iterator
from itertools import islice
from types import FrameType
from typing import Any

from firstcause.installed import is_installed

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_schemes = sysconfig.get_paths()
NOT_USER = tuple(
    {os.path.realpath(_schemes[k]) + os.sep for k in ("stdlib", "platstdlib", "purelib", "platlib")}
    | {PACKAGE + os.sep}
)
_user: dict[str, bool] = {}
# torch's frame below everything that runs in a backward pass, since 2.3.
ENGINE = "_engine_run_backward"


def is_user_file(path: str) -> bool:
    """Whether a file is neither installed, nor Python's, nor ours."""
    known = _user.get(path)
    if known is None:
        real = os.path.realpath(path)
        known = not path.startswith("<") and not real.startswith(NOT_USER) and not is_installed(real)
        _user[path] = known
    return known


def is_user_module(module: Any) -> bool:
    """The same for a loaded module; one without a file is none."""
    return is_user_file(getattr(module, "__file__", None) or "<")


def user_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of the program at or above ``frame``, innermost first."""
    while frame is not None:
        if is_user_file(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def of_frame(frame: FrameType | None, columns: bool = False) -> dict[str, Any] | None:
    """The innermost user frame at or above ``frame``: file, line, function, text, and where it is known the columns."""
    user = next(user_frames(frame), None)
    return None if user is None else standing(user) | (_columns(user) if columns else {})


def stack(frame: FrameType | None) -> Iterator[dict[str, Any]]:
    """File and line of every frame of the program at or above ``frame``, innermost first."""
    for user in user_frames(frame):
        yield {"file": user.f_code.co_filename, "line": user.f_lineno}


def _columns(frame: FrameType) -> dict[str, Any]:
    """The running expression's columns in UTF-8 bytes; Python tells them since 3.11."""
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None:
        return {}
    line, end_line, column, end_column = next(islice(positions(), frame.f_lasti // 2, None), (None,) * 4)
    if line != frame.f_lineno or column is None:
        return {}
    return {"column": column, "end_line": end_line, "end_column": end_column}


def here() -> dict[str, Any] | None:
    """The innermost user frame of the caller, with its columns."""
    return of_frame(sys._getframe(1), columns=True)


def of_node(node: Any, frame: FrameType | None = None) -> dict[str, Any] | None:
    """The user's line that runs inside the backward pass, a ``backward`` of its own or a hook; else the forward line.

    The forward line of an autograd node is kept by anomaly mode as text of the forward's stack.
    """
    while frame is not None and frame.f_code.co_name != ENGINE:
        if is_user_file(frame.f_code.co_filename):
            return of_frame(frame, columns=True)
        frame = frame.f_back
    return next(_frames_of_node(node), None)


def of_node_in(node: Any, file: str, function: str) -> dict[str, Any] | None:
    """The line of one function from which the forward of a node was reached; None where it was not."""
    return next((p for p in _frames_of_node(node) if (p["file"], p["function"]) == (file, function)), None)


def _frames_of_node(node: Any) -> Iterator[dict[str, Any]]:
    for entry in reversed(node.metadata.get("traceback_") or []):
        head = entry.strip().splitlines()[0]
        if not head.startswith('File "'):
            continue
        path, _, rest = head[6:].partition('"')
        if is_user_file(path):
            line, _, function = rest.removeprefix(", line ").partition(", in ")
            yield place(path, int(line), function)


def standing(frame: FrameType) -> dict[str, Any]:
    """The place at which a frame stands."""
    return place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def place(path: str, line: int, function: str) -> dict[str, Any]:
    return {"file": path, "line": line, "function": function, "text": linecache.getline(path, line).strip()}
