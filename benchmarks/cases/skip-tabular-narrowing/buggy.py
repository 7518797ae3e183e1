import math
from dataclasses import dataclass, field
from typing import List

import torch
from torch import Tensor, nn


@dataclass
class Config:
    widths: List[int] = field(default_factory=lambda: [64, 64, 32])
    dropout: float = 0.05
    rows: int = 2080
    batch: int = 64
    epochs: int = 5
    lr: float = 2e-3


class ResidualMLP(nn.Module):
    def __init__(self, width_in: int, width_out: int, dropout: float):
        super().__init__()
        self.norm = nn.LayerNorm(width_in)
        self.up = nn.Linear(width_in, 2 * width_out)
        self.down = nn.Linear(2 * width_out, width_out)
        self.drop = nn.Dropout(dropout)
        self.skip = nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        h = self.down(torch.nn.functional.silu(self.up(self.norm(x))))
        return self.skip(x) + self.drop(h)


def build(columns: int, cfg: Config) -> nn.Sequential:
    parts = [nn.Linear(columns, cfg.widths[0])]
    for a, b in zip(cfg.widths[:1] + cfg.widths[:-1], cfg.widths):
        parts.append(ResidualMLP(a, b, cfg.dropout))
    parts += [nn.LayerNorm(cfg.widths[-1]), nn.Linear(cfg.widths[-1], 1), nn.Flatten(0)]
    return nn.Sequential(*parts)


def concrete(rows: int, seed: int = 41):
    """Mix of a concrete sample and its strength after some days."""
    g = torch.Generator().manual_seed(seed)
    mix = torch.rand(rows, 8, generator=g)
    days = 1 + 89 * torch.rand(rows, generator=g)
    water_ratio = (0.3 + mix[:, 1]) / (0.6 + mix[:, 0])
    strength = torch.log(days) * (1.6 - water_ratio) + 0.8 * mix[:, 2] * mix[:, 3]
    strength = strength + 0.1 * torch.randn(rows, generator=g)
    x = torch.cat([mix, days[:, None] / 90], dim=1)
    return (x - x.mean(0)) / x.std(0), (strength - strength.mean()) / strength.std()


def epoch_loss(model, x, y, cfg, opt=None):
    total = 0.0
    for rows in torch.randperm(len(x)).split(cfg.batch):
        with torch.set_grad_enabled(opt is not None):
            loss = ((model(x[rows]) - y[rows]) ** 2).mean()
        if opt is not None:
            opt.zero_grad()
            loss.backward()
            opt.step()
        total += loss.item() * len(rows)
    return total / len(x)


def main(cfg: Config) -> None:
    torch.manual_seed(0)
    x, y = concrete(cfg.rows)
    model = build(x.shape[1], cfg)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        model.train()
        mse = epoch_loss(model, x, y, cfg, opt)
        print(f"epoch {epoch} rmse {math.sqrt(mse):.4f}")
    print(f"final loss {mse:.4f}")


if __name__ == "__main__":
    main(Config())
