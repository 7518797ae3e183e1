import multiprocessing as mp
import threading

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class CachedGrid(Dataset):
    def __init__(self, n):
        self.n = n
        self.cache = {}
        self.guard = threading.Lock()

    def __len__(self):
        return self.n

    def field(self, i):
        g = torch.Generator().manual_seed(i)
        return torch.randn(8, generator=g)

    def __getitem__(self, i):
        with self.guard:
            if i not in self.cache:
                self.cache[i] = self.field(i)
            x = self.cache[i]
        return x, x.abs().sum()


def main():
    mp.set_start_method("forkserver")
    torch.manual_seed(0)
    loader = DataLoader(CachedGrid(128), batch_size=16, shuffle=True, num_workers=2)
    net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for epoch in range(2):
        total = 0.0
        for x, y in loader:
            loss = nn.functional.mse_loss(net(x).squeeze(1), y)
            opt.zero_grad(); loss.backward(); opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.3f}")
    print(f"final loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
