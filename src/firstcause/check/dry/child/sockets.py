"""A free port without a network: who only looks for one is told a number, and nothing is opened."""

from __future__ import annotations

import socket
from typing import Any

from firstcause.sandbox.refusal import refuse

FREE = 29511
INTERNET = (socket.AF_INET, socket.AF_INET6)


class Local(socket.socket):
    """In the place of ``socket.socket``: bound to no address; whoever connects is refused by the seal."""

    def __init__(self, family: int = -1, type: int = -1, proto: int = -1, fileno: int | None = None) -> None:
        self.fc_internet = fileno is None and family in (-1, *INTERNET)
        if self.fc_internet:
            # The system call filter lets only local sockets through.
            super().__init__(socket.AF_UNIX, socket.SOCK_STREAM)
        else:
            super().__init__(family, type, proto, fileno)

    def bind(self, address: Any) -> None:
        if self.fc_internet:
            self.fc_bound = address[0] or "0.0.0.0", address[1] or FREE
        else:
            super().bind(address)

    def connect(self, address: Any) -> None:
        if self.fc_internet:
            refuse("seal-network", f"uses the network (socket.connect {address})")
        super().connect(address)

    def connect_ex(self, address: Any) -> int:
        self.connect(address)
        return 0

    def getsockname(self) -> Any:
        return getattr(self, "fc_bound", None) or super().getsockname()

    def setsockopt(self, *args: Any) -> None:
        if not self.fc_internet:
            super().setsockopt(*args)

    def listen(self, *args: Any) -> None:
        if not self.fc_internet:
            super().listen(*args)


def install() -> None:
    socket.socket = Local  # type: ignore[misc]
