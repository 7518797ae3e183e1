"""Starting a process, or signalling one: refused before anything of it exists."""

from __future__ import annotations

import _posixsubprocess
import signal
import sys
from types import ModuleType
from typing import Any

from firstcause.sandbox.refusal import refuse
from firstcause.sandbox.writers.rebind import replace


def patch() -> None:
    """Patch what raises no audit event, or raises it after queues and pipes have been made."""
    # multiprocessing's spawn, fork server and resource tracker use it directly.
    replace(_posixsubprocess, "fork_exec", _fork_exec)
    replace(signal, "pidfd_send_signal", _send)
    module = sys.modules.get("multiprocessing.process")
    if module is not None:
        patch_multiprocessing(module)


def patch_multiprocessing(module: ModuleType) -> None:
    module.BaseProcess.start = _start


def _fork_exec(arguments: Any, *rest: Any) -> None:
    refuse("seal-process", f"starts a process ({list(arguments)})")


def _send(*arguments: Any) -> None:
    refuse("seal-process", "sends a signal (signal.pidfd_send_signal)")


def _start(process: Any) -> None:
    refuse("seal-process", f"starts a process ({process.name} of multiprocessing)")
