"""Ventilation demand of greenhouse zones from a varying number of sensors."""
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Zone:
    readings: torch.Tensor
    demand: torch.Tensor


class ZonePool(nn.Module):
    """Summary of a zone, whatever its number of sensors."""

    def forward(self, values):
        centre = values.mean()
        spread = values.std() + 1e-3
        scaled = (values - centre) / spread
        return torch.stack([centre, spread, scaled.max(), scaled.min()])


class Demand(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = ZonePool()
        self.net = nn.Sequential(nn.Linear(4, 20), nn.Tanh(), nn.Linear(20, 1))

    def forward(self, zones):
        pooled = torch.stack([self.pool(zone.readings) for zone in zones])
        return self.net(pooled).squeeze(-1)


def greenhouse(hours=120, seed=6):
    g = torch.Generator().manual_seed(seed)
    sizes = [5, 7, 4, 6, 3, 8, 5, 2, 9, 1, 6, 4]
    for _ in range(hours):
        zones = []
        for size in sizes:
            level = torch.randn((), generator=g)
            readings = level + 0.4 * torch.randn(size, generator=g)
            zones.append(Zone(readings, 0.8 * level.relu() + 0.1))
        yield zones


def main():
    torch.manual_seed(2)
    model = Demand()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    history = []
    for hour, zones in enumerate(greenhouse()):
        wanted = torch.stack([zone.demand for zone in zones])
        loss = nn.functional.smooth_l1_loss(model(zones), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
        if hour % 30 == 0:
            print(f"hour {hour:3d} loss {loss.item():.4f}")
    print(f"final loss {sum(history[-10:]) / 10:.4f}")


if __name__ == "__main__":
    main()
