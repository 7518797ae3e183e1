"""Height of a satellite over an orbit by learned harmonics, in double precision."""
import math

import torch
from torch import nn


class Harmonics(nn.Module):
    def __init__(self, orders, samples):
        super().__init__()
        phase = torch.linspace(0, 2 * math.pi, samples)
        rows = [torch.cos(k * phase) for k in range(orders)] + [torch.sin(k * phase) for k in range(1, orders)]
        self.table = torch.stack(rows)

    def forward(self, coefficients):
        return coefficients @ self.table


class OrbitModel(nn.Module):
    def __init__(self, elements=6, orders=5, samples=64):
        super().__init__()
        self.coefficients = nn.Sequential(nn.Linear(elements, 48), nn.Tanh(), nn.Linear(48, 2 * orders - 1))
        self.harmonics = Harmonics(orders, samples)

    def forward(self, elements):
        return self.harmonics(self.coefficients(elements))


def orbits(n=400, samples=64, seed=28):
    g = torch.Generator().manual_seed(seed)
    elements = torch.rand(n, 6, generator=g, dtype=torch.float64) - 0.5
    phase = torch.linspace(0, 2 * math.pi, samples, dtype=torch.float64)
    eccentric = elements[:, :1]
    height = 1 + eccentric * torch.cos(phase + elements[:, 1:2]) + eccentric**2 * torch.cos(2 * phase)
    return elements, height


def main():
    torch.manual_seed(3)
    elements, height = orbits()
    model = OrbitModel().double()
    assert all(p.dtype == torch.float64 for p in model.parameters())
    assert elements.dtype == height.dtype == torch.float64
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(8):
        losses = []
        for rows in torch.randperm(len(elements)).split(25):
            loss = (model(elements[rows]) - height[rows]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.5f}")
    print(f"final loss {sum(losses) / len(losses):.5f}")


if __name__ == "__main__":
    main()
