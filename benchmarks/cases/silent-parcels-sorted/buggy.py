import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class ParcelTable(Dataset):
    """Parcels exported depot by depot."""

    def __init__(self, per_depot, seed, n_depots=10, dim=12):
        rng = np.random.default_rng(seed)
        centres = np.random.default_rng(100).normal(size=(n_depots, dim)) * 0.9
        rows, depots = [], []
        for d in range(n_depots):
            rows.append(centres[d] + rng.normal(size=(per_depot, dim)))
            depots += [d] * per_depot
        self.rows = torch.tensor(np.concatenate(rows), dtype=torch.float32)
        self.depots = torch.tensor(depots)

    def __getitem__(self, i):
        return self.rows[i], self.depots[i]

    def __len__(self):
        return len(self.depots)


def get_loaders(batch_size=32):
    train = DataLoader(ParcelTable(200, 0), batch_size=batch_size)
    test = DataLoader(ParcelTable(60, 1), batch_size=200)
    return train, test


def test_loss(model, loader):
    model.eval()
    out = 0.0
    with torch.no_grad():
        for x, y in loader:
            out += nn.functional.cross_entropy(model(x), y, reduction="sum").item()
    model.train()
    return out / len(loader.dataset)


if __name__ == "__main__":
    torch.manual_seed(31)
    train, test = get_loaders()
    model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 10))
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(8):
        for x, y in train:
            opt.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            opt.step()
        print(f"epoch {epoch} test loss {test_loss(model, test):.4f}")
    print(f"final test loss {test_loss(model, test):.4f}")
