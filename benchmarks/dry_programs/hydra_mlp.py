"""A small network whose sizes and whose optimizer come from hydra, with what the command line overrides."""

from dataclasses import dataclass, field

import hydra
import torch
from hydra.core.config_store import ConfigStore
from torch import nn


@dataclass
class Model:
    width: int = 64
    depth: int = 2


@dataclass
class Config:
    model: Model = field(default_factory=Model)
    lr: float = 1e-3
    epochs: int = 10


ConfigStore.instance().store(name="config", node=Config)


@hydra.main(version_base=None, config_name="config")
def main(config):
    layers = [nn.Linear(16, config.model.width), nn.ReLU()]
    for _ in range(config.model.depth):
        layers += [nn.Linear(config.model.width, config.model.width), nn.ReLU()]
    model = nn.Sequential(*layers, nn.Linear(config.model.width, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr)
    x = torch.randn(1024, 16)
    y = x.sum(1, keepdim=True)
    for epoch in range(config.epochs):
        for part in torch.randperm(len(x)).split(64):
            loss = nn.functional.mse_loss(model(x[part]), y[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
