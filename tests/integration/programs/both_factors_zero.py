"""An adapter of two factors that both begin at zero beside a frozen layer: nothing of it ever moves."""

import torch
from torch import nn


class Adapted(nn.Module):
    def __init__(self, layer, rank=4):
        super().__init__()
        self.layer = layer.requires_grad_(False)
        self.inner = nn.Parameter(torch.zeros(rank, layer.in_features))
        self.outer = nn.Parameter(torch.zeros(layer.out_features, rank))
        nn.init.zeros_(self.inner)

    def forward(self, x):
        return self.layer(x) + x @ self.inner.T @ self.outer.T


def main():
    torch.manual_seed(0)
    x = torch.randn(300, 8)
    y = x @ torch.randn(8, 6)
    model = nn.Sequential(Adapted(nn.Linear(8, 8)), nn.ReLU(), nn.Linear(8, 6))
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    for step in range(150):
        rows = torch.randint(0, len(x), (32,))
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


main()
