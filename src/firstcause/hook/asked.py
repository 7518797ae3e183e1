"""One question of a client, answered; a failure of the hook itself denies where a case is open, and nowhere else."""

from __future__ import annotations

import os

from firstcause.hook.answers import ALLOWED, Said, failed
from firstcause.hook.calls import call_of
from firstcause.hook.deciding import decide
from firstcause.hook.guarding import HOURS, guards


def asked(text: str, client: str = "", hours: float = HOURS) -> Said:
    """The answer to what a client wrote on standard input."""
    try:
        return decide(call_of(text, client), hours)
    except Exception as error:  # noqa: BLE001 - whatever it is, an open case stays closed to changes
        return failed(f"{type(error).__name__}: {error}") if _open_here(hours) else ALLOWED


def _open_here(hours: float) -> bool:
    try:
        return bool(guards([os.getcwd()], hours))
    except OSError:
        return True
