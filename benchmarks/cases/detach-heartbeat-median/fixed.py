"""Heartbeat classes: learned filters, median over time against spikes, linear layer."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def median_over_time(features, width=5):
    """Running median of every channel."""
    padded = F.pad(features, (width // 2, width // 2), mode="replicate")
    return padded.unfold(-1, width, 1).median(dim=-1).values


class Filters(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first = nn.Conv1d(1, channels, 9, padding=4)
        self.second = nn.Conv1d(channels, channels, 9, padding=4, stride=2)

    def forward(self, beat):
        return F.relu(self.second(F.relu(self.first(beat))))


class BeatNet(nn.Module):
    def __init__(self, classes=5, channels=8):
        super().__init__()
        self.filters = Filters(channels)
        self.classes = nn.Linear(channels, classes)

    def forward(self, beat):
        smooth = median_over_time(self.filters(beat))
        return self.classes(smooth.mean(-1))


def beats(n, gen):
    kind = torch.randint(0, 5, (n,), generator=gen)
    t = torch.arange(48.0)
    wave = torch.sin(t * (0.25 + 0.22 * kind.float()[:, None]) + 6.28 * torch.rand(n, 1, generator=gen))
    return (wave + 0.3 * torch.randn(n, 48, generator=gen))[:, None], kind


class Trainer:
    def __init__(self, net, rate=6e-3):
        self.net, self.optimizer = net, torch.optim.AdamW(net.parameters(), lr=rate)
        self.gen = torch.Generator().manual_seed(1)

    def fit(self, steps):
        losses = []
        for step in range(steps):
            beat, kind = beats(48, self.gen)
            loss = F.cross_entropy(self.net(beat), kind)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
            if step % 60 == 59:
                print(f"step {step + 1} loss {np.mean(losses[-60:]):.4f}")
        return float(np.mean(losses[-40:]))


if __name__ == "__main__":
    torch.manual_seed(5)
    print(f"final loss {Trainer(BeatNet()).fit(420):.4f}")
