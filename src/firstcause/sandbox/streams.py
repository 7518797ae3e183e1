"""``sys.stdin``, ``sys.stdout`` and ``sys.stderr``: new ones, so that nothing buffered before the seal comes out of it."""

from __future__ import annotations

import _io
import sys
from typing import Any

# Were they let go, they would be flushed.
_held: list[Any] = []


def replace(keep: frozenset[int]) -> None:
    """Put silent streams in the place of those that end at a descriptor.

    A stream of the program's own, such as one that writes to two others, stays: it may be asked for more than a stream.
    """
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if descriptor in keep:
            continue
        for attribute in (name, f"__{name}__"):
            old = getattr(sys, attribute, None)
            if old is None or not _ends_at_descriptor(old):
                continue
            _held.append(old)
            encoding, errors = getattr(old, "encoding", None), getattr(old, "errors", None)
            setattr(
                sys, attribute, _io.open(descriptor, mode, encoding=encoding, errors=errors, closefd=False)
            )


def _ends_at_descriptor(stream: Any) -> bool:
    # Jupyter's stream sends to a thread that does not live on after a fork.
    return type(stream).__name__ == "TextIOWrapper" or hasattr(stream, "pub_thread")
