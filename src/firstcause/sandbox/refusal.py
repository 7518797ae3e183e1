"""What the sealed process may not do, said by name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from firstcause.errors import SealError

_refused: list[SealError] = []
_own = False


@contextmanager
def own() -> Iterator[None]:
    """What is done inside is firstcause's own: a sealed process may fork itself, and end its forks."""
    global _own
    before, _own = _own, True
    try:
        yield
    finally:
        _own = before


def is_own() -> bool:
    return _own


def refuse(slug: str, what: str) -> NoReturn:
    """Raise the ``SealError`` that ends a replay; ``what`` completes "not replayable past line N: it ...".

    It is kept as well, because the user's code may catch it and go on.
    """
    error = SealError(slug, f"it {what}")
    _refused.append(error)
    raise error


def refused() -> tuple[SealError, ...]:
    """What was refused in this process so far, oldest first: after the first one a replay proves nothing."""
    return tuple(_refused)
