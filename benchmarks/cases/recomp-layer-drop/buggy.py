"""Sleep stages from EEG windows with stochastic depth and activation checkpointing."""
import random

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class StochasticDepth(nn.Module):
    def __init__(self, branch, drop):
        super().__init__()
        self.branch, self.drop = branch, drop

    def forward(self, x):
        if self.training and random.random() < self.drop:
            return x * 1.0
        return x + self.branch(x)


class SleepNet(nn.Module):
    def __init__(self, width=24, depth=4, stages=4):
        super().__init__()
        self.stem = nn.Conv1d(1, width, 9, stride=4, padding=4)
        self.blocks = nn.ModuleList(
            StochasticDepth(nn.Sequential(nn.Conv1d(width, width, 5, padding=2), nn.GELU()), 0.1 * (i + 1))
            for i in range(depth)
        )
        self.head = nn.Linear(width, stages)

    def forward(self, eeg):
        h = self.stem(eeg[:, None])
        for block in self.blocks:
            if self.training:
                h = checkpoint(block, h, use_reentrant=False)
            else:
                h = block(h)
        return self.head(h.square().mean(-1))


def night(n=480, samples=128, seed=6):
    g = torch.Generator().manual_seed(seed)
    stage = torch.randint(0, 4, (n,), generator=g)
    t = torch.arange(samples) / samples
    wave = torch.sin(2 * torch.pi * (3 + 5 * stage[:, None]) * t + 6 * torch.rand(n, 1, generator=g))
    return wave + 0.3 * torch.randn(n, samples, generator=g), stage


def main():
    torch.manual_seed(0)
    random.seed(0)
    eeg, stage = night()
    model = SleepNet()
    opt = torch.optim.AdamW(model.parameters(), lr=4e-3)
    for epoch in range(6):
        losses = []
        for rows in torch.randperm(len(eeg)).split(32):
            loss = nn.functional.cross_entropy(model(eeg[rows]), stage[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f}")
    print(f"final loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
