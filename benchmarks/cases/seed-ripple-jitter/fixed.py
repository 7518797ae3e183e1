"""Ripple images with a random tilt and brightness for each batch; two runs are compared line by line."""
import random

import numpy as np
import torch
from torch import nn


def fix_seeds(seed):
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)


def ripples(n, generator):
    grid = torch.linspace(-1, 1, 16)
    kind = torch.randint(1, 4, (n,), generator=generator)
    wave = torch.sin(3.0 * kind.view(-1, 1, 1) * grid.view(1, 1, -1) + grid.view(1, -1, 1))
    return wave.unsqueeze(1) + 0.2 * torch.randn(n, 1, 16, 16, generator=generator), kind - 1


class Jitter:
    def __init__(self, most=3, brightness=0.3):
        self.most, self.brightness = most, brightness

    def __call__(self, x):
        if random.random() < 0.5:
            x = x.flip(-1)
        steps = int(np.random.randint(-self.most, self.most + 1))
        return torch.roll(x, steps, dims=-2) * float(np.random.uniform(1 - self.brightness, 1 + self.brightness))


def main():
    fix_seeds(7)
    x, y = ripples(320, torch.Generator().manual_seed(11))
    jitter = Jitter()
    model = nn.Sequential(nn.Conv2d(1, 8, 5), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(4):
        for rows in torch.randperm(len(y)).split(32):
            loss = nn.functional.cross_entropy(model(jitter(x[rows])), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"final {loss.item():.6f}")


if __name__ == "__main__":
    main()
