"""Connections from before the seal: their descriptors are silent, and whoever uses one is told why."""

from __future__ import annotations

import errno
import sys
from typing import Any

from firstcause.sandbox.refusal import refuse

METHODS = (
    "accept",
    "recv",
    "recv_into",
    "recvfrom",
    "recvfrom_into",
    "recvmsg",
    "send",
    "sendall",
    "shutdown",
)


def patch() -> None:
    """Name what would else be "Socket operation on non-socket"; new connections are refused by their audit events."""
    module = sys.modules.get("socket")
    if module is not None:
        for name in METHODS:
            _name_errors(module.socket, name)


def _name_errors(owner: type, name: str) -> None:
    original = getattr(owner, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, *args, **kwargs)
        except OSError as error:
            if error.errno != errno.ENOTSOCK:
                raise
            refuse("seal-network", f"uses a connection that was open before (socket.{name})")

    setattr(owner, name, method)
