"""Air quality with missing stations: gaps are NaN in the table and masked in loss and input."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Stations(Dataset):
    def __init__(self, n=1600, width=12, seed=0):
        gen = torch.Generator().manual_seed(seed)
        base = torch.randn(n, 3, generator=gen) @ torch.randn(3, width, generator=gen)
        self.table = base + 0.1 * torch.randn(n, width, generator=gen)
        self.table[torch.rand(n, width, generator=gen) < 0.2] = float("nan")

    def __len__(self):
        return len(self.table)

    def __getitem__(self, i):
        return self.table[i]


class Imputer(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2 * width, 48), nn.ReLU(), nn.Linear(48, width))

    def forward(self, row, known):
        return self.net(torch.cat([torch.where(known, row, 0.0), known.float()], 1))


def masked_error(guess, row, known):
    return torch.where(known, guess - torch.nan_to_num(row), 0.0).square().sum() / known.sum().clamp(min=1)


def main():
    torch.manual_seed(4)
    loader = DataLoader(Stations(), batch_size=40, shuffle=True)
    net = Imputer()
    optimizer = torch.optim.RMSprop(net.parameters(), lr=2e-3)
    for epoch in range(8):
        total = 0.0
        for row in loader:
            present = ~row.isnan()
            shown = present & (torch.rand_like(row) < 0.8)
            loss = masked_error(net(row, shown), row, present)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print("epoch", epoch, "error", round(total / len(loader), 4))
    print("final loss", round(total / len(loader), 4))


if __name__ == "__main__":
    main()
