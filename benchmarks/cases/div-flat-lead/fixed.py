# Beat classes from three-lead windows. Each window is brought to zero mean and unit spread, lead by lead.
import math

import torch
import torch.nn as nn
from torch.optim import SGD
from torch.utils.data import DataLoader, TensorDataset

LEADS, SAMPLES, KINDS = 3, 96, 4


def record(n_windows=1500, seed=12):
    gen = torch.Generator().manual_seed(seed)
    kind = torch.randint(0, KINDS, (n_windows,), generator=gen)
    t = torch.linspace(0, 1, SAMPLES)
    phase = torch.rand(n_windows, 1, 1, generator=gen)
    freq = (2.0 + kind.float())[:, None, None]
    gain = torch.rand(n_windows, LEADS, 1, generator=gen) * 1.5 + 0.2
    wave = gain * torch.sin(2 * math.pi * (freq * t + phase))
    wave = wave + 0.6 * torch.randn(n_windows, LEADS, SAMPLES, generator=gen)
    off = torch.randperm(n_windows, generator=gen)[:4]
    wave[off, 2] = 0.0
    return wave, kind


class BeatNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.conv_a = nn.Conv1d(LEADS, width, 9, padding=4)
        self.conv_b = nn.Conv1d(width, width, 9, padding=4, stride=2)
        self.out = nn.Linear(width, KINDS)

    @staticmethod
    def per_window(x):
        centred = x - x.mean(dim=-1, keepdim=True)
        return centred / (centred.std(dim=-1, keepdim=True) + 1e-6)

    def forward(self, x):
        x = self.per_window(x)
        x = torch.relu(self.conv_a(x))
        x = torch.relu(self.conv_b(x))
        return self.out(x.mean(-1))


def one_epoch(net, loader, criterion, opt, log_every):
    total, correct = 0.0, 0
    for i, (windows, kind) in enumerate(loader):
        opt.zero_grad()
        logits = net(windows)
        loss = criterion(logits, kind)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        total += loss.item()
        correct += (logits.argmax(1) == kind).sum().item()
        if log_every and i % log_every == 0:
            print(f"  batch {i:3d} loss {loss.item():.4f}")
    return total / len(loader), correct / len(loader.dataset)


def main():
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(*record()), batch_size=30, shuffle=True)
    net = BeatNet()
    opt = SGD(net.parameters(), lr=0.08, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(4):
        loss, acc = one_epoch(net, loader, criterion, opt, log_every=10 if epoch == 0 else 0)
        print(f"epoch {epoch}: loss {loss:.4f} accuracy {acc:.3f}")
    print(f"final loss {loss:.4f}")


main()
