"""Position of ships from signal delays, by great-circle distance."""
import math

import torch
import torch.nn as nn


def haversine(p, q):
    """Distance in radians of points (latitude, longitude)."""
    dlat, dlon = (p - q).unbind(-1)
    a = torch.sin(dlat / 2) ** 2 + torch.cos(p[..., 0]) * torch.cos(q[..., 0]) * torch.sin(dlon / 2) ** 2
    a = a.clamp(1e-9, 1.0 - 1e-6)
    return 2 * torch.asin(a.sqrt())


class Locator(nn.Module):
    def __init__(self, stations=9, hidden=48):
        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(stations, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.position = nn.Linear(hidden, 2, bias=False)
        nn.init.zeros_(self.position.weight)

    def forward(self, delay):
        return self.position(self.hidden(delay))


def fleet(n=512, stations=9, seed=4):
    g = torch.Generator().manual_seed(seed)
    lat = (torch.rand(n, generator=g) - 0.5) * math.pi * 0.8
    lon = (torch.rand(n, generator=g) - 0.5) * math.pi * 1.6
    lat[5], lon[5] = 0.0, math.pi
    ships = torch.stack([lat, lon], -1)
    anchors = torch.stack([torch.linspace(-1, 1, stations), torch.linspace(-2.4, 2.4, stations)], -1)
    return haversine(ships[:, None], anchors[None]), ships


def main():
    torch.manual_seed(0)
    delay, ships = fleet()
    model = Locator()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(12):
        total = 0.0
        for start in range(0, len(ships), 64):
            rows = slice(start, start + 64)
            loss = haversine(model(delay[rows]), ships[rows]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(ships[rows])
        print(f"epoch {epoch} distance {total / len(ships):.4f}")
    print(f"final loss {total / len(ships):.4f}")


if __name__ == "__main__":
    main()
