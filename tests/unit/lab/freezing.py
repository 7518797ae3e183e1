"""A small net whose parts are switched off, its training, and what the specialist says of what was watched."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from firstcause.lab.counterfactual import Ran
from firstcause.source import Project
from firstcause.specialists.module_design_patterns import frozen_by_mistake as cause


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(6, 32)
        self.adapter = nn.Linear(32, 32)
        self.head = nn.Linear(32, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(torch.tanh(self.adapter(torch.tanh(self.body(x)))))


def put(layer: nn.Linear) -> None:
    """Values that no initialisation draws."""
    layer.weight.data = torch.linspace(-2, 2, layer.weight.numel()).pow(3).view_as(layer.weight)


def train(step: Any, net: nn.Module, optimizer: torch.optim.Optimizer, steps: int = 20) -> None:
    for _ in range(steps):
        step(net(torch.randn(16, 6)).square().mean(), optimizer)


def seen(facts: dict[str, Any], tmp_path: Any, source: str = "x = 1\n") -> str | None:
    (tmp_path / "train.py").write_text(source)
    examination = SimpleNamespace(project=Project.of_script(str(tmp_path / "train.py"), str(tmp_path)))
    return cause.seen(Ran("audit", "program", facts=facts), examination)  # type: ignore[arg-type]
