"""What the sealed process may not do, said by name."""

from __future__ import annotations

from typing import NoReturn

from firstcause.errors import SealError

_refused: list[SealError] = []


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
