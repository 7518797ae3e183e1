"""Tide gauge: water level from the moon's phase and the pressure."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

PERIODS = np.array([12.42, 12.0, 23.93, 25.82])


def harmonics(hour):
    angle = 2 * np.pi * hour / PERIODS
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1).ravel()


class Gauge(Dataset):
    def __init__(self, hours=1200, seed=1):
        g = torch.Generator().manual_seed(seed)
        self.pressure = torch.randn(hours, 1, generator=g)
        self.wind = torch.randn(hours, 2, generator=g)
        weights = torch.tensor([1.0, 0.3, 0.5, 0.1, 0.2, 0.0, 0.1, 0.3])
        basis = torch.tensor(np.array([harmonics(hour) for hour in range(hours)]), dtype=torch.float32)
        self.level = basis @ weights - 0.3 * self.pressure[:, 0]

    def __len__(self):
        return len(self.level)

    def __getitem__(self, hour):
        tide = torch.from_numpy(harmonics(hour))
        weather = torch.cat([self.pressure[hour], self.wind[hour]])
        return torch.cat([tide, weather]), self.level[hour]


class Surge(nn.Module):
    def __init__(self, inputs, hidden=32):
        super().__init__()
        self.entry = nn.Linear(inputs, hidden)
        self.blocks = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(2))
        self.exit = nn.Linear(hidden, 1)

    def forward(self, x):
        h = self.entry(x)
        for block in self.blocks:
            h = h + torch.relu(block(h))
        return self.exit(h).squeeze(-1)


def main():
    torch.manual_seed(0)
    gauge = Gauge()
    model = Surge(inputs=len(gauge[0][0]))
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(4):
        losses = []
        for x, level in DataLoader(gauge, batch_size=60, shuffle=True):
            loss = (model(x) - level).abs().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f}")
    print(f"final loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
