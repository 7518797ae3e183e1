import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIZE = 2000


class Raw(Dataset):
    """Fixed-size float32 records in one file, the label in front."""

    def __init__(self, path, n):
        self.n = n
        self.file = None
        self.path = path

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if self.file is None:
            self.file = open(self.path, "rb", buffering=0)
        self.file.seek(i * 4 * (SIZE + 1))
        label = np.frombuffer(self.file.read(4), dtype=np.float32)
        body = np.frombuffer(self.file.read(4 * SIZE), dtype=np.float32)
        return torch.from_numpy(body.copy()), torch.from_numpy(label.copy())


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "raw.bin")
        with open(path, "wb") as f:
            for i in range(500):
                y = rng.normal()
                f.write(np.concatenate([[y], y + rng.normal(size=SIZE)]).astype(np.float32).tobytes())
        net = nn.Sequential(nn.Linear(SIZE, 16), nn.ReLU(), nn.Linear(16, 1))
        opt = torch.optim.Adam(net.parameters(), lr=1e-3)
        loader = DataLoader(Raw(path, 500), batch_size=10, shuffle=True, num_workers=4)
        for e in range(4):
            s = 0.0
            for x, y in loader:
                loss = nn.functional.mse_loss(net(x), y)
                opt.zero_grad(); loss.backward(); opt.step()
                s += loss.item()
            print("epoch", e, "loss", s / len(loader))
        print(f"final loss {s / len(loader):.4f}")


if __name__ == "__main__":
    main()
