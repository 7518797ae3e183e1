"""The program's own threads: without data as it is itself, their loops whole, and waited for no longer than it takes."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from firstcause.check.dry.child.session import Session

# Who feeds a loop that was shortened is never done.
WAIT = 0.5


def install(session: Session, modes: tuple[Any, Any]) -> None:
    """Modes are known to the thread that enters them: each enters them for itself."""
    run, join = threading.Thread._bootstrap_inner, threading.Thread.join  # type: ignore[attr-defined]

    def entered(self: threading.Thread) -> None:
        with modes[0], modes[1]:
            run(self)

    def joined(self: threading.Thread, timeout: float | None = None) -> None:
        if session.was_cut:
            timeout = WAIT if timeout is None else min(timeout, WAIT)
        join(self, timeout)

    # Whoever derives from Thread has a run of its own.
    threading.Thread._bootstrap_inner, threading.Thread.join = entered, joined  # type: ignore[attr-defined,method-assign]


def is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


class OfThread:
    """An attribute of which each thread has its own."""

    def __init__(self, first: Any) -> None:
        self.first = first
        self.values = threading.local()

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        if not hasattr(self.values, "value"):
            self.values.value = self.first()
        return self.values.value

    def __set__(self, owner: Any, value: Any) -> None:
        self.values.value = value
