"""Gaps in weather series are to be filled: some readings are blanked out and must be found again."""

import math
import torch
from torch import nn
import torch.nn.functional as F


class Filler(nn.Module):
    def __init__(self, channels=24):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(2, channels, 5, padding=2),
            nn.ReLU(),
            nn.Conv1d(channels, channels, 5, padding=2),
            nn.ReLU(),
            nn.Conv1d(channels, 1, 5, padding=2),
        )

    def forward(self, series, known):
        return self.net(torch.stack([series, known], 1)).squeeze(1)


def weather(n):
    t = torch.arange(48.0)
    phase, rate = 6.28 * torch.rand(n, 1), 0.1 + 0.2 * torch.rand(n, 1)
    return torch.sin(rate * t + phase) + 0.1 * torch.randn(n, 48)


torch.manual_seed(1)
filler = Filler()
optimizer = torch.optim.Adam(filler.parameters(), 3e-3)
for step in range(150):
    truth = weather(32)
    blank = torch.rand_like(truth) < 0.25
    series = truth.clone()
    series.masked_fill(blank, 0.0)
    guess = filler(series, (~blank).float())
    loss = F.mse_loss(guess[blank], truth[blank])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print(step, loss.item())
