"""Nothing changed: what a healthy-looking training does that nobody means, seen by the watchers of ``lab/audit``.

A setting of a watcher (``align``, ``undone``, ``moved``) is the one thing that is changed, where there is one.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch

from firstcause.lab.audit import WATCHERS, Watcher
from firstcause.lab.audit.function_calls import FunctionCalls
from firstcause.lab.interventions import Intervention


class Change(Intervention):
    """All watchers, or those named in ``settings["watch"]``; a watcher's facts stand at the top level of the arm's."""

    def start(self) -> None:
        names = self.settings.get("watch") or WATCHERS
        modules = [importlib.import_module(f"firstcause.lab.audit.{name}") for name in names]
        self.watchers: list[Watcher] = [m.Watch(self.settings, self.recorder) for m in modules]
        # Watchers that failed, by their module, with what they said; they are asked no more.
        self.failed: dict[str, str] = {}
        self._each(lambda w: w.start())
        if any(type(w).ran is not Watcher.ran for w in self.watchers):
            torch.nn.modules.module.register_module_forward_hook(self._ran)
        self.calls = FunctionCalls(self.watchers, self._fail)
        if self.calls.asked:
            self.calls.__enter__()

    def _ran(self, module: torch.nn.Module, args: tuple[Any, ...], result: Any) -> None:
        self._each(lambda w: w.ran(module, args, result))

    def loss(self, value: torch.Tensor) -> None:
        self._each(lambda w: w.loss(value))

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        self._each(lambda w: w.before_step(optimizer))

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        self._each(lambda w: w.after_step(optimizer))

    def figures(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self._each(lambda w: found.update(w.figures()))
        return found

    def facts(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self._each(lambda w: found.update(w.facts()))
        return found | {"failed": self.failed}

    def _each(self, ask: Callable[[Watcher], None]) -> None:
        for watcher in tuple(self.watchers):
            try:
                ask(watcher)
            except Exception as error:  # noqa: BLE001 - what looks on must not end the program that it looks at
                self._fail(watcher, error)

    def _fail(self, watcher: Watcher, error: Exception) -> None:
        self.failed[type(watcher).__module__.rpartition(".")[2]] = repr(error)
        self.watchers.remove(watcher)
