"""A small regression whose biases begin far below zero, so that no unit ever answers."""

import torch
from torch import nn


def begin(layer: nn.Module) -> None:
    if isinstance(layer, nn.Linear):
        nn.init.normal_(layer.weight, std=0.05)
        nn.init.constant_(layer.bias, -0.5)


def main() -> None:
    torch.manual_seed(0)
    x = torch.rand(256, 6)
    y = (3 * x[:, 0] + x[:, 1] * x[:, 2])[:, None]
    net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
    net.apply(begin)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(40):
        loss = nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"final loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
