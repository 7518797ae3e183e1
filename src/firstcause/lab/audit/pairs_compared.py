"""Operands that broadcast against each other value by value; with ``settings["align"]`` they get one shape."""

from __future__ import annotations

from typing import Any

from firstcause.lab.audit import Watcher
from firstcause.lab.pairs import Pairs

SHOWN = 8


class Watch(Watcher):
    """The column ``distance`` is the mean squared distance of the operands brought to one shape."""

    def start(self) -> None:
        self.pairs = Pairs(bool(self.settings.get("align")))
        self.pairs.__enter__()

    def figures(self) -> dict[str, Any]:
        return {"distance": self.pairs.take_distance()}

    def facts(self) -> dict[str, Any]:
        return {"pairs": list(self.pairs.seen.values())[:SHOWN]}
