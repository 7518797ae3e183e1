import functools

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Compose:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, x):
        for step in self.steps:
            x = step(x)
        return x


class Soil(Dataset):
    def __init__(self, n, transform):
        g = torch.Generator().manual_seed(0)
        self.x = torch.randn(n, 12, generator=g)
        self.y = self.x[:, :3].sum(1)
        self.transform = transform

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.transform(self.x[i]), self.y[i]


def scaled(mean, std, v):
    return (v - mean) / std


def jittered(v):
    return v + 0.01 * torch.randn_like(v)


def build(mean, std):
    normalise = Compose([
        functools.partial(scaled, mean, std),
        jittered,
    ])
    return Soil(256, normalise)


def main():
    torch.manual_seed(0)
    data = build(0.1, 0.9)
    loader = DataLoader(data, batch_size=32, shuffle=True, num_workers=2, multiprocessing_context="spawn")
    net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 1))
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for epoch in range(2):
        for x, y in loader:
            loss = ((net(x).squeeze(1) - y) ** 2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        print("epoch", epoch, "loss", loss.item())
    print(f"final loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
