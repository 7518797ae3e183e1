import random
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def synth(n, seed):
    rng = np.random.default_rng(seed)
    clips, labels = [], []
    for i in range(n):
        length = int(rng.integers(900, 2400)) if i not in (57, 211) else int(rng.integers(300, 500))
        kind = int(rng.integers(0, 4))
        t = np.arange(length) / 400.0
        clips.append(np.sin(2 * np.pi * (3 + 4 * kind) * t).astype(np.float32) + 0.3 * rng.normal(size=length).astype(np.float32))
        labels.append(kind)
    return clips, labels


class BirdCalls(Dataset):
    def __init__(self, clips, labels, window=600):
        self.clips, self.labels, self.window = clips, labels, window

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, i):
        wave = self.clips[i]
        if len(wave) < self.window:
            wave = np.pad(wave, (0, self.window - len(wave)))
        start = random.randint(0, len(wave) - self.window)
        piece = wave[start:start + self.window]
        return torch.from_numpy(piece).unsqueeze(0), self.labels[i]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv1d(1, 16, 25, stride=4), nn.ReLU(), nn.Conv1d(16, 32, 9, stride=2), nn.ReLU(), nn.AdaptiveAvgPool1d(1))
        self.head = nn.Linear(32, 4)

    def forward(self, x):
        return self.head(self.body(x).flatten(1))


def main():
    random.seed(1)
    torch.manual_seed(1)
    data = BirdCalls(*synth(320, 3))
    loader = DataLoader(data, batch_size=32, shuffle=True, num_workers=2)
    net = Net()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(3):
        total = 0.0
        for wave, kind in loader:
            loss = nn.functional.cross_entropy(net(wave), kind)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}", flush=True)
    print(f"final loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
