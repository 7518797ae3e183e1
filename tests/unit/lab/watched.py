"""A small training in this process, looked at by watchers as one in a sealed child is."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from firstcause.lab.audit import Watcher
from firstcause.lab.audit.function_calls import FunctionCalls

Step = Callable[[torch.Tensor, torch.optim.Optimizer], None]


def watch(
    name: str, train: Callable[[Step], None], settings: dict[str, Any] | None = None
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The facts and the rows of figures of one watcher."""
    watcher: Watcher = importlib.import_module(f"firstcause.lab.audit.{name}").Watch(settings or {}, None)
    rows: list[dict[str, Any]] = []

    def step(loss: torch.Tensor, optimizer: torch.optim.Optimizer) -> None:
        watcher.loss(loss)
        optimizer.zero_grad()
        loss.backward()
        watcher.before_step(optimizer)
        rows.append(watcher.figures())
        optimizer.step()
        watcher.after_step(optimizer)

    watcher.start()
    hook = torch.nn.modules.module.register_module_forward_hook(watcher.ran)
    try:
        with FunctionCalls([watcher], _told):
            train(step)
    finally:
        hook.remove()
        for mode in vars(watcher).values():
            if isinstance(mode, TorchFunctionMode):
                mode.__exit__(None, None, None)
    return watcher.facts(), rows


def _told(watcher: Watcher, error: Exception) -> None:
    raise error


def adam(model: torch.nn.Module) -> torch.optim.Optimizer:
    """A usual optimizer of a small network."""
    return torch.optim.Adam(model.parameters(), 1e-2)
