import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class SpectrogramSet(Dataset):
    def __init__(self, n, seed, augment):
        r = np.random.default_rng(seed)
        proto = np.random.default_rng(42).normal(size=(6, 40))
        self.y = r.integers(0, 6, n)
        self.data = (proto[self.y] + 1.0 * r.normal(size=(n, 40))).astype(np.float32)
        self.augment = augment

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        x = torch.from_numpy(self.data[i])
        if self.augment:
            keep = (torch.rand(40) > 0.12).float()
            x = x * keep
        return x, int(self.y[i])


def evaluate(model, ds):
    model.eval()
    dl = DataLoader(ds, batch_size=200)
    with torch.no_grad():
        loss = sum(nn.functional.cross_entropy(model(x), y).item() for x, y in dl) / len(dl)
    model.train()
    return loss


if __name__ == "__main__":
    torch.manual_seed(3)
    train, test = SpectrogramSet(700, 0, True), SpectrogramSet(600, 1, False)
    loader = DataLoader(train, batch_size=35, shuffle=True)
    model = nn.Sequential(nn.Linear(40, 64), nn.ReLU(), nn.Linear(64, 6))
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for epoch in range(20):
        s = 0.0
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            s += loss.item()
        if epoch % 4 == 3:
            print(f"epoch {epoch} train {s / len(loader):.4f} test {evaluate(model, test):.4f}")
    print(f"final train {s / len(loader):.4f}")
