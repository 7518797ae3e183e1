import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Fixed(Dataset):
    """Records read at their place, without moving the file; short ones are padded."""

    def __init__(self, path, n, size):
        self.fd = open(path, "rb")  # noqa: SIM115 - kept open on purpose
        self.n, self.size = n, size

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        raw = os.pread(self.fd.fileno(), 4 * self.size, 4 * self.size * i)
        x = np.frombuffer(raw, np.float32)
        keep = 5 + i % 10
        x = np.pad(x[:keep], (0, self.size - keep))
        return torch.from_numpy(x), torch.tensor(float(x.sum()))


def main():
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as d:
        p = os.path.join(d, "r.bin")
        np.random.default_rng(0).normal(size=300 * 16).astype(np.float32).tofile(p)
        dl = DataLoader(Fixed(p, 300, 16), batch_size=10, shuffle=True, num_workers=2)
        net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))
        opt = torch.optim.Adam(net.parameters(), 1e-2)
        for e in range(4):
            t = 0.0
            for x, y in dl:
                loss = nn.functional.mse_loss(net(x).squeeze(1), y)
                opt.zero_grad()
                loss.backward()
                opt.step()
                t += loss.item()
            print(e, t / len(dl))


if __name__ == "__main__":
    main()
