"""A watcher or a change started in this process, and taken back after the test."""

from __future__ import annotations

import gc
import importlib
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from started import Start
from torch import nn
from torch.optim import lr_scheduler

from firstcause.lab.audit import Watcher


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Start:
    """Starts a watcher or a change; what it patches in torch is put back afterwards."""
    schedules = [k for k in vars(lr_scheduler).values() if isinstance(k, type) and "step" in vars(k)]
    places: list[tuple[Any, str]] = [
        (torch.optim.Optimizer, "__init__"),
        (torch.amp.GradScaler, "step"),
        (torch.optim.Optimizer, "zero_grad"),
        (nn.Module, "zero_grad"),
        (nn.Module, "train"),
        (torch.autograd, "backward"),
        (torch.utils.data.DataLoader, "__iter__"),
        *((k, "step") for k in schedules),
    ]
    for place, name in places:
        monkeypatch.setattr(place, name, getattr(place, name))
    hooks = torch.nn.modules.module
    for name in ("_global_forward_hooks", "_global_forward_pre_hooks"):
        monkeypatch.setattr(hooks, name, getattr(hooks, name).copy())
    torch.manual_seed(0)
    # Optimizers that earlier tests left behind would be watched as well.
    gc.collect()

    def begin(module: str, **settings: Any) -> Any:
        loaded = importlib.import_module(f"firstcause.lab.{module}")
        kind = loaded.Watch if hasattr(loaded, "Watch") else loaded.Change
        one = kind(settings, SimpleNamespace(mark=lambda *a: None))
        one.start()
        if isinstance(one, Watcher):
            hooks.register_module_forward_hook(one.ran)
        return one

    return begin
