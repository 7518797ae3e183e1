"""Cloud or clear in four-band satellite tiles."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

BANDS = ("blue", "green", "red", "nir")


def with_index(bands):
    red, nir = bands[BANDS.index("red")], bands[BANDS.index("nir")]
    ndvi = (nir - red) / (nir + red + 1e-3)
    return torch.cat([bands, ndvi[None]])


class Tiles(Dataset):
    def __init__(self, n=360, size=16, seed=20, transform=None):
        g = torch.Generator().manual_seed(seed)
        self.cloudy = torch.randint(0, 2, (n,), generator=g)
        ground = 0.3 * torch.rand(n, len(BANDS), size, size, generator=g)
        cloud = 0.5 * torch.rand(n, 1, size, size, generator=g) * self.cloudy[:, None, None, None]
        self.bands = ground + cloud
        self.transform = transform

    def __len__(self):
        return len(self.bands)

    def __getitem__(self, i):
        tile = self.bands[i]
        if self.transform is not None:
            tile = self.transform(tile)
        return tile, self.cloudy[i].float()


class Encoder(nn.Module):
    def __init__(self, bands, widths=(8, 16)):
        super().__init__()
        stages = []
        for width in widths:
            stages += [nn.Conv2d(bands, width, 3, stride=2, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
            bands = width
        self.stages = nn.Sequential(*stages)

    def forward(self, tile):
        return self.stages(tile).mean((2, 3))


def main():
    torch.manual_seed(0)
    loader = DataLoader(Tiles(transform=with_index), batch_size=36, shuffle=True)
    encoder = Encoder(bands=len(BANDS) + 1)
    head = nn.Linear(16, 1)
    parameters = [*encoder.parameters(), *head.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=4e-3)
    for epoch in range(5):
        mean = 0.0
        for tile, cloudy in loader:
            logit = head(encoder(tile)).squeeze(1)
            loss = nn.functional.binary_cross_entropy_with_logits(logit, cloudy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            mean += loss.item() / len(loader)
        print(f"epoch {epoch} loss {mean:.4f}")
    print(f"final loss {mean:.4f}")


if __name__ == "__main__":
    main()
