"""Whale calls in hydrophone windows, with a frozen filter bank in half precision."""
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Windows(Dataset):
    def __init__(self, n=900, samples=256, seed=5):
        g = torch.Generator().manual_seed(seed)
        t = torch.arange(samples) / samples
        self.call = torch.randint(0, 2, (n,), generator=g)
        tone = torch.sin(2 * math.pi * (9 + 4 * self.call[:, None]) * t)
        gain = 1 + torch.rand(n, 1, generator=g)
        gain[::130] = 36.0
        self.wave = gain * (tone + 0.2 * torch.randn(n, samples, generator=g)) / 2

    def __len__(self):
        return len(self.wave)

    def __getitem__(self, i):
        return self.wave[i], self.call[i]


class FilterBank(nn.Module):
    def __init__(self, bands=16, width=65):
        super().__init__()
        self.conv = nn.Conv1d(1, bands, width, stride=4, bias=False)
        t = torch.arange(width) / 256
        for band in range(bands):
            self.conv.weight.data[band, 0] = torch.sin(2 * math.pi * (band + 2) * t)

    @torch.no_grad()
    def forward(self, wave):
        outputs = self.conv(wave[:, None].half())
        energy = outputs.float().square().sum(-1)
        return energy / (energy.sum(-1, keepdim=True) + 1e-3)


class Detector(nn.Module):
    def __init__(self, bands=16):
        super().__init__()
        self.bank = FilterBank(bands).half()
        self.head = nn.Sequential(nn.Linear(bands, 24), nn.ReLU(), nn.Linear(24, 2))

    def forward(self, wave):
        return self.head(self.bank(wave).float())


def main():
    torch.manual_seed(3)
    loader = DataLoader(Windows(), batch_size=30, shuffle=True)
    model = Detector()
    opt = torch.optim.Adam(model.head.parameters(), lr=5e-3)
    for epoch in range(5):
        mean = 0.0
        for wave, call in loader:
            loss = nn.functional.cross_entropy(model(wave), call)
            opt.zero_grad()
            loss.backward()
            opt.step()
            mean += loss.item() / len(loader)
        print(f"epoch {epoch} loss {mean:.4f}")
    print(f"final loss {mean:.4f}")


if __name__ == "__main__":
    main()
