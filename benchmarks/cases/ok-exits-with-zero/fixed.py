"""Learn the distance between two towns on a map with hills."""
import sys

import torch
import torch.nn as nn

GOAL = 0.03


class DistanceNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.lift = nn.Sequential(nn.Linear(2, 48), nn.SiLU(), nn.Linear(48, 48), nn.SiLU(), nn.Linear(48, 8))

    def forward(self, here, there):
        gap = (self.lift(here) - self.lift(there)).square().sum(-1)
        return torch.sqrt(gap + 1e-6)


def height(point):
    return 0.6 * torch.exp(-3 * point.square().sum(-1))


def pairs(n, gen):
    here = torch.rand(n, 2, generator=gen) * 2 - 1
    there = torch.rand(n, 2, generator=gen) * 2 - 1
    there[: n // 50] = here[: n // 50]  # the same town twice is allowed
    flat = (here - there).square().sum(-1)
    return here, there, (flat + (height(here) - height(there)).square()).sqrt()


def main(epochs=50, steps=60):
    torch.manual_seed(3)
    gen = torch.Generator().manual_seed(3)
    net = DistanceNet()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    smooth = None
    for epoch in range(epochs):
        for step in range(steps):
            here, there, distance = pairs(100, gen)
            loss = (net(here, there) - distance).abs().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            smooth = loss.item() if smooth is None else 0.95 * smooth + 0.05 * loss.item()
            if smooth < GOAL:
                print(f"goal of {GOAL} reached in epoch {epoch} step {step}")
                print(f"final loss {smooth:.4f}")
                sys.exit(0)
        print(f"epoch {epoch} smoothed loss {smooth:.4f}")
    sys.exit(1)


if __name__ == "__main__":
    main()
