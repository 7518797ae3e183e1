"""Delivery times: nine quantiles at once; targets broadcast against the quantiles on purpose."""
import torch
from torch import nn


class Quantiles(nn.Module):
    def __init__(self, levels):
        super().__init__()
        self.register_buffer("levels", levels)
        self.net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, len(levels)))

    def forward(self, x):
        return self.net(x)

    def pinball(self, guess, minutes):
        gap = minutes.unsqueeze(1) - guess
        return torch.maximum(self.levels * gap, (self.levels - 1) * gap).mean()


def ranking(score, minutes):
    """Every pair of deliveries should be in the right order."""
    gap = score[:, None] - score[None, :]
    order = torch.sign(minutes[:, None] - minutes[None, :])
    return nn.functional.softplus(-gap * order)[order != 0].mean()


def main():
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(5)
    model = Quantiles(torch.linspace(0.1, 0.9, 9))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    mean = 0.0
    for step in range(700):
        x = torch.randn(64, 8, generator=gen)
        minutes = x[:, 0] + x[:, 1].abs() + (0.2 + 0.3 * x[:, 2].sigmoid()) * torch.randn(64, generator=gen)
        guess = model(x)
        loss = model.pinball(guess, minutes) + 0.2 * ranking(guess[:, 4], minutes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = 0.98 * mean + 0.02 * loss.item()
        if step % 100 == 99:
            print("step", step + 1, "loss", f"{mean:.4f}")
    print("final loss", f"{mean:.4f}")


if __name__ == "__main__":
    main()
