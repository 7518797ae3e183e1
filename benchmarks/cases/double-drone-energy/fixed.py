"""Energy of a drone flight from its legs and the wind."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def flights(n=900, seed=14):
    rng = np.random.default_rng(seed)
    length = rng.gamma(4.0, 60.0, size=n)
    climb = rng.normal(0, 25.0, size=n)
    wind = rng.normal(6, 3.0, size=n)
    energy = 0.01 * length + 0.02 * climb + 0.1 * wind
    columns = {"length": length, "climb": climb, "wind": wind}
    return columns, energy


class Standardise(nn.Module):
    def __init__(self, columns):
        super().__init__()
        values = np.stack(list(columns.values()), axis=1)
        self.register_buffer("centre", torch.from_numpy(values.mean(0)).float())
        self.register_buffer("spread", torch.from_numpy(values.std(0)).float())

    def forward(self, x):
        return (x - self.centre) / self.spread


class EnergyModel(nn.Module):
    def __init__(self, columns, hidden=32):
        super().__init__()
        self.scale = Standardise(columns)
        self.entry = nn.Linear(len(columns), hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        h = self.scale(x)
        h = torch.relu(self.entry(h))
        return self.out(h).squeeze(1)


def loader_for(columns, energy, batch):
    x = torch.tensor(np.stack(list(columns.values()), axis=1), dtype=torch.float32)
    y = torch.tensor(energy, dtype=torch.float32)
    return DataLoader(TensorDataset(x, y), batch_size=batch, shuffle=True)


def main():
    torch.manual_seed(1)
    columns, energy = flights()
    loader = loader_for(columns, energy, 45)
    model = EnergyModel(columns)
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(6):
        losses = []
        for x, wanted in loader:
            assert x.dtype == torch.float32
            loss = nn.functional.mse_loss(model(x), wanted)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f}")
    print(f"final loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
