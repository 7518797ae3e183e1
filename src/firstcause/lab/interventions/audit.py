"""Nothing changed: what a healthy-looking training does that nobody means, seen by the watchers of ``lab/audit``.

A setting of a watcher (``align``, ``undone``, ``moved``) is the one thing that is changed, where there is one.
"""

from __future__ import annotations

import importlib
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
        for watcher in self.watchers:
            watcher.start()
        if any(type(w).ran is not Watcher.ran for w in self.watchers):
            torch.nn.modules.module.register_module_forward_hook(self._ran)
        self.calls = FunctionCalls(self.watchers)
        if self.calls.asked:
            self.calls.__enter__()

    def _ran(self, module: torch.nn.Module, args: tuple[Any, ...], result: Any) -> None:
        for watcher in self.watchers:
            watcher.ran(module, args, result)

    def loss(self, value: torch.Tensor) -> None:
        for watcher in self.watchers:
            watcher.loss(value)

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        for watcher in self.watchers:
            watcher.before_step(optimizer)

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        for watcher in self.watchers:
            watcher.after_step(optimizer)

    def figures(self) -> dict[str, Any]:
        return {k: v for watcher in self.watchers for k, v in watcher.figures().items()}

    def facts(self) -> dict[str, Any]:
        found = {k: v for watcher in self.watchers for k, v in watcher.facts().items()}
        return found | {"failed": self.calls.failed}
