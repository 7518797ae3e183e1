"""Signals as at a terminal, though the suite may be started in the background; ids that are the same in each worker."""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Functions and bytes are named by their argument: an address or a time in an id differs in each worker."""
    return argname if callable(val) or isinstance(val, bytes) else None
