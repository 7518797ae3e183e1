"""How long the sealed process lives: never longer than its parent, and it leaves without another word."""

from __future__ import annotations

import _io
import posix
import resource
import signal
from collections.abc import Callable
from functools import partial
from typing import NoReturn

from firstcause.sandbox import libc


def bind_to_parent() -> None:
    """The kernel kills this process when the thread that started it ends, and first where memory runs out."""
    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        with _io.open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")
    except OSError:
        # Some containers mount /proc read-only; the deadline and the memory check remain. A fork of a sealed
        # process cannot open it, and has inherited what is there.
        return


def bound() -> Callable[[], None]:
    """For ``preexec_fn`` of a process that is of no use without this one: it ends when this one is killed."""
    return partial(die_with, posix.getpid())


def die_with(parent: int) -> None:
    """The kernel kills this new process when ``parent`` ends, also where it has ended already."""
    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
    if posix.getppid() != parent:
        posix.kill(posix.getpid(), signal.SIGKILL)


def no_core() -> None:
    """Write no core file: 1 byte, because 0 still starts a crash handler that the kernel pipes cores to."""
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    least = 1 if hard == resource.RLIM_INFINITY else min(1, hard)
    resource.setrlimit(resource.RLIMIT_CORE, (least, hard))


def leave(code: int) -> NoReturn:
    """End this process at once: no atexit handler, no flush, no waiting for a thread."""
    posix._exit(code)
