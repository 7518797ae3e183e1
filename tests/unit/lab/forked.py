"""A small training in a child of its own, looked at by one watcher: what it patches stays in torch for good."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from firstcause.lab.interventions.audit import Change

Training = Callable[[Callable[[], None]], object]


def _watched(training: Training, watcher: str, settings: dict[str, Any], out: Any) -> None:
    torch.set_num_threads(1)
    modules: dict[str, object] = {}
    recorder: Any = SimpleNamespace(reachable=SimpleNamespace(modules=modules))
    change = Change({"watch": [watcher], **settings}, recorder)
    register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: change.before_step(optimizer))
    register_optimizer_step_post_hook(lambda optimizer, args, kwargs: change.after_step(optimizer))
    kept = training(change.start)
    if isinstance(kept, nn.Module):
        modules["kept"] = kept
    out.send(change.facts())
    del kept


def watched(training: Training, watcher: str, **settings: Any) -> dict[str, Any]:
    """The facts of one watcher; the training calls what it is given where its loop begins, and returns what is to live."""
    context = multiprocessing.get_context("fork")
    into, out = context.Pipe(duplex=False)
    child = context.Process(target=_watched, args=(training, watcher, settings, out))
    child.start()
    out.close()
    try:
        found: dict[str, Any] = into.recv()
    finally:
        child.join()
    return found
