"""The names of a running frame with their values, with the frame left as it was."""

from __future__ import annotations

import sys
from inspect import CO_OPTIMIZED
from types import FrameType
from typing import Any

# A function that asks for its names is given the dictionary that is filled for whoever reads them.
ASKS = frozenset({"locals", "f_locals"})
# The frame's own reference to that dictionary, ours, and that of the call that counts them.
NOBODY_ELSE = 3


def names_of(frame: FrameType, known: dict[str, Any]) -> dict[str, Any]:
    """A copy of a frame's names with their values; of a function that asks for them itself, those already ``known``.

    Before Python 3.13 ``f_locals`` of a function is one dictionary: to read it fills what the program may have got from
    ``locals()``, and the frame keeps it, with all that it names then, for as long as it runs: a batch or a graph would
    outlive its step. It is emptied.
    """
    # In a class body and in the text of an ``exec`` these are the names themselves.
    if sys.version_info >= (3, 13) or not frame.f_code.co_flags & CO_OPTIMIZED:
        return dict(frame.f_locals)
    if not ASKS.isdisjoint(frame.f_code.co_names):
        return dict(known)
    space = frame.f_locals
    names = dict(space)
    if frame.f_trace is None and sys.getrefcount(space) <= NOBODY_ELSE:
        space.clear()
    return names
