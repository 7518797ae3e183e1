"""The average of the weights is kept in bfloat16, in which it cannot move."""

import torch
from torch import nn


class Average:
    def __init__(self, model, keep=0.998):
        self.keep = keep
        self.held = {name: p.detach().bfloat16() for name, p in model.named_parameters()}

    @torch.no_grad()
    def update(self, model):
        for name, p in model.named_parameters():
            self.held[name].lerp_(p.bfloat16(), 1 - self.keep)


def main():
    torch.manual_seed(0)
    x = torch.randn(400, 6)
    y = (x @ torch.randn(6, 1)).tanh()
    model = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 1))
    average = Average(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(150):
        rows = torch.randint(0, len(x), (32,))
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update(model)
    print(f"loss {loss.item():.4f}")


main()
