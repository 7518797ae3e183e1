"""The net under the patches: Python announces what it is about to do, and what cannot be undone is refused by name."""

from __future__ import annotations

import os
import posix
import sys
from collections.abc import Callable
from typing import Any

from firstcause.sandbox.overlay import Overlay
from firstcause.sandbox.refusal import is_own, refuse

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
SINKS = frozenset(("/dev/null", "/dev/zero", "/dev/full"))
PROCESSES = "os.exec os.fork os.forkpty os.posix_spawn os.spawn os.system pty.spawn subprocess.Popen".split()  # noqa: SIM905
SIGNALS = ("os.kill", "os.killpg", "signal.pthread_kill")
SOCKETS = ("socket.bind", "socket.connect", "socket.sendmsg", "socket.sendto")
LOOKUPS = ("socket.getaddrinfo", "socket.gethostbyaddr", "socket.gethostbyname", "socket.getnameinfo")
# Event, what it does, and the first of its arguments that are paths which it changes.
CHANGES = {
    "os.chmod": ("changes the mode of", 1),
    "os.chown": ("changes the owner of", 1),
    "os.link": ("makes the link", 2),
    "os.mkdir": ("makes the folder", 1),
    "os.remove": ("deletes", 1),
    "os.removexattr": ("changes the attributes of", 1),
    "os.rename": ("renames", 2),
    "os.rmdir": ("deletes the folder", 1),
    "os.setxattr": ("changes the attributes of", 1),
    "os.truncate": ("truncates", 1),
    "os.utime": ("changes the times of", 1),
}


def spread(overlay: Overlay) -> None:
    """Refuse from now on, in every thread; irreversible."""
    checks = _checks(overlay)

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        check = checks.get(event)
        if check is not None:
            check(arguments)

    sys.addaudithook(look)


def _checks(overlay: Overlay) -> dict[str, Callable[[tuple[Any, ...]], None]]:
    def inside(path: Any) -> bool:
        if isinstance(path, int):
            path = posix.readlink(f"/proc/self/fd/{path}")
        # A sealed descriptor, or a file that the layer has opened.
        return _text(path) in SINKS or overlay.is_scratch(_text(path))

    def opening(arguments: tuple[Any, ...]) -> None:
        path, mode, flags = arguments
        writes = (
            bool(set(mode) & set("wax+"))
            if isinstance(mode, str)
            else isinstance(flags, int) and flags & WRITING
        )
        if writes and not isinstance(path, int) and not inside(path):
            refuse(
                "seal-write", f"writes the file {_text(path)} by a way that is not led to the scratch folder"
            )

    def changing(what: str, count: int) -> Callable[[tuple[Any, ...]], None]:
        def check(arguments: tuple[Any, ...]) -> None:
            for path in arguments[:count]:
                if not inside(path):
                    refuse(
                        "seal-write", f"{what} {_text(path)} by a way that is not led to the scratch folder"
                    )

        return check

    checks: dict[str, Callable[[tuple[Any, ...]], None]] = {"open": opening, "urllib.Request": _address}
    checks |= {event: changing(*how) for event, how in CHANGES.items()}
    checks["os.symlink"] = lambda arguments: changing("makes the link", 1)(arguments[1:])
    checks |= {event: _process(event) for event in PROCESSES}
    checks |= {event: _signal(event) for event in SIGNALS}
    checks |= {event: _connection(event) for event in SOCKETS}
    checks |= {event: _lookup(event) for event in LOOKUPS}
    return checks


def _process(event: str) -> Callable[[tuple[Any, ...]], None]:
    def check(arguments: tuple[Any, ...]) -> None:
        if is_own():
            return
        # subprocess.Popen: (executable, arguments, ...); os.exec and spawns: (path, arguments, ...); os.fork: ().
        given = arguments[1] if len(arguments) > 1 else arguments[0] if arguments else None
        shown = f"{event} {given}" if given is not None else event
        refuse("seal-process", f"starts a process ({shown})")

    return check


def _signal(event: str) -> Callable[[tuple[Any, ...]], None]:
    def check(arguments: tuple[Any, ...]) -> None:
        if not is_own():
            refuse("seal-process", f"sends a signal ({event} {', '.join(map(str, arguments))})")

    return check


def _connection(event: str) -> Callable[[tuple[Any, ...]], None]:
    return lambda arguments: refuse("seal-network", f"uses the network ({event} {arguments[-1]})")


def _lookup(event: str) -> Callable[[tuple[Any, ...]], None]:
    return lambda arguments: refuse("seal-network", f"looks up a host ({event} {_text(arguments[0])})")


def _address(arguments: tuple[Any, ...]) -> None:
    if not str(arguments[0]).startswith(("file:", "data:")):
        refuse("seal-network", f"uses the network ({arguments[0]})")


def _text(path: Any) -> str:
    return os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else str(path)
