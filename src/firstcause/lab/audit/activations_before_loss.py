"""Probabilities that reach a loss which wants logits; with ``settings["skipped"]``, a list of [file, line], logits do."""

from __future__ import annotations

from typing import Any

from firstcause.lab.activations import Activations
from firstcause.lab.audit import Watcher


class Watch(Watcher):
    """The column ``surprise`` is the mean negative log of the probability that the program gives to its targets."""

    def start(self) -> None:
        self.activations = Activations(frozenset((f, n) for f, n in self.settings.get("skipped") or ()))
        self.activations.__enter__()

    def figures(self) -> dict[str, Any]:
        return {"surprise": self.activations.take_surprise()}

    def facts(self) -> dict[str, Any]:
        return {"activated": self.activations.facts()}
