"""Ripe or not: small colour photos of tomatoes."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Tomatoes(Dataset):
    def __init__(self, n=400, size=28, seed=0):
        self.rng = np.random.default_rng(seed)
        self.samples = [self.photo(size) for _ in range(n)]

    def photo(self, size):
        ripe = int(self.rng.random() < 0.5)
        yy, xx = np.mgrid[-1:1:size * 1j, -1:1:size * 1j]
        disc = (xx ** 2 + yy ** 2 < self.rng.uniform(0.3, 0.9))[..., None]
        colour = np.array([0.8, 0.2, 0.1]) if ripe else np.array([0.3, 0.6, 0.1])
        picture = np.where(disc, colour, 0.7) + 0.25 * self.rng.standard_normal((size, size, 3))
        return picture.astype(np.float32), ripe

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        return self.samples[i]


def collate(samples):
    images = torch.stack([torch.from_numpy(photo).permute(2, 0, 1) for photo, _ in samples])
    return images, torch.tensor([ripe for _, ripe in samples])


class RipeNet(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(),
            nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(),
            nn.Flatten(), nn.Linear(16 * 6 * 6, 2),
        )


if __name__ == "__main__":
    torch.manual_seed(0)
    loader = DataLoader(Tomatoes(), batch_size=20, shuffle=True, collate_fn=collate)
    net = RipeNet()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(2):
        total = 0.0
        for images, ripe in loader:
            loss = nn.functional.cross_entropy(net(images), ripe)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() / len(loader)
        print(f"epoch {epoch} loss {total:.4f}")
    print(f"final loss {total:.4f}")
