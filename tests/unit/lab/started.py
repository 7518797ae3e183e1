"""A small training whose parts come in any order, told to a watcher that runs in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

Start = Callable[..., Any]


def train(watch: Any, model: nn.Module, optimizer: Any, *order: Any, steps: int = 8) -> None:
    """Steps of one training: ``order`` holds names of its parts, and functions that are called between."""
    x = torch.randn(16, 4)
    for _ in range(steps):
        loss = model(x).square().mean()
        for part in order:
            if part == "clear":
                optimizer.zero_grad()
            elif part == "backward":
                watch.loss(loss)
                loss.backward()
            elif part == "step":
                watch.before_step(optimizer)
                optimizer.step()
                watch.after_step(optimizer)
            else:
                part()
