import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Archive(Dataset):
    def __init__(self, path):
        self.arrays = np.load(path)
        self.names = [n for n in self.arrays.files if n != "targets"]
        self.targets = self.arrays["targets"]

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        patch = self.arrays[self.names[i]]
        return torch.from_numpy(patch).float(), torch.tensor(float(self.targets[i]))


def build(path, n):
    rng = np.random.default_rng(0)
    patches = {f"p{i:03d}": rng.normal(size=(40, 40)).astype(np.float32) for i in range(n)}
    targets = np.array([p[:4].mean() for p in patches.values()], dtype=np.float32)
    np.savez(path, targets=targets, **patches)


def run(epochs=4):
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "patches.npz")
        build(path, 600)
        data = Archive(path)
        net = nn.Sequential(nn.Flatten(), nn.Linear(1600, 32), nn.ReLU(), nn.Linear(32, 1))
        opt = torch.optim.Adam(net.parameters(), lr=1e-3)
        loader = DataLoader(data, batch_size=12, shuffle=True, num_workers=3)
        for e in range(epochs):
            s = 0.0
            for x, y in loader:
                loss = nn.functional.mse_loss(net(x).squeeze(1), y)
                opt.zero_grad(); loss.backward(); opt.step()
                s += loss.item()
            print("epoch", e, "loss", s / len(loader))
        print(f"final loss {s / len(loader):.5f}")


if __name__ == "__main__":
    run()
