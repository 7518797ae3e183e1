"""The seal: after it, nothing that this process does can be seen outside of its scratch folder."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

from firstcause.sandbox import (
    descriptors,
    landlock,
    lifetime,
    mappings,
    net,
    network,
    processes,
    signals,
    sleep,
    streams,
    writers,
)
from firstcause.sandbox.overlay import Overlay
from firstcause.sandbox.writers import rebind


@dataclass(frozen=True)
class SealReport:
    """How tight the seal is: by the kernel (Landlock version ``abi``) or in Python only, and then for what reason."""

    kernel: bool
    abi: int
    reason: str
    closed: int
    mappings: int


_report: SealReport | None = None


def report() -> SealReport | None:
    """How this process was sealed, or None: it is not sealed."""
    return _report


def seal(scratch: str, keep: frozenset[int] = frozenset()) -> SealReport:
    """Seal this process but for the folder ``scratch`` and the open descriptors ``keep``; irreversible.

    Called in a forked child, or in a fresh interpreter before the user's first line; in the main thread.
    Raises ``OSError`` where the process cannot be sealed even in Python: it must then not go on.
    """
    global _report
    if _report is not None:
        return _report
    lifetime.bind_to_parent()
    lifetime.no_core()
    signals.reset()
    os.makedirs(scratch, exist_ok=True)
    overlay = Overlay(scratch)
    os.makedirs(overlay.upper, exist_ok=True)
    closed = descriptors.redirect(overlay, keep)
    shared = mappings.make_private()
    streams.replace(keep)
    # The import system writes .pyc files by the functions that it keeps for itself.
    sys.dont_write_bytecode = True
    kernel, abi, reason = landlock.restrict(overlay.scratch)
    writers.lead_to(overlay)
    sleep.patch()
    processes.patch()
    network.patch()
    rebind.everywhere()
    net.spread(overlay)
    _report = SealReport(kernel, abi, reason, closed, shared)
    return _report
