"""Land use from four-band tiles: water, forest, crop, settlement."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CLASSES = ["water", "forest", "crop", "settlement"]
SPECTRUM = np.array([[0.1, 0.2, 0.1, 0.0], [0.1, 0.5, 0.2, 0.7], [0.4, 0.6, 0.3, 0.5], [0.6, 0.5, 0.6, 0.3]], np.float32)


def draw_tile(rng, size, outlined):
    """A tile of a few fields; in an outlined tile the borders between fields were marked as undecided."""
    seeds = rng.integers(0, size, (5, 2))
    yy, xx = np.mgrid[:size, :size]
    owner = ((yy[..., None] - seeds[:, 0]) ** 2 + (xx[..., None] - seeds[:, 1]) ** 2).argmin(-1)
    mask = rng.integers(0, len(CLASSES), 5)[owner].astype(np.uint8)
    image = SPECTRUM[mask] + 0.15 * rng.standard_normal((size, size, 4))
    if outlined:
        edge = np.zeros_like(mask, bool)
        edge[:, 1:] |= owner[:, 1:] != owner[:, :-1]
        edge[1:, :] |= owner[1:, :] != owner[:-1, :]
        mask[edge] = 255
    return image.transpose(2, 0, 1).astype(np.float32), mask


class Tiles(Dataset):
    def __init__(self, n=300, size=24, seed=6):
        rng = np.random.default_rng(seed)
        drawn = [draw_tile(rng, size, outlined=i > 40 and rng.random() < 0.02) for i in range(n)]
        self.images = torch.from_numpy(np.stack([image for image, _ in drawn]))
        self.masks = torch.from_numpy(np.stack([mask for _, mask in drawn]))

    def __getitem__(self, i):
        return self.images[i], self.masks[i]

    def __len__(self):
        return len(self.masks)


class Segmenter(nn.Module):
    def __init__(self, bands=4, width=16):
        super().__init__()
        self.enter = nn.Conv2d(bands, width, 3, padding=1)
        self.context = nn.Conv2d(width, width, 3, padding=2, dilation=2)
        self.leave = nn.Conv2d(width, len(CLASSES), 1)

    def forward(self, x):
        h = torch.relu(self.enter(x))
        h = torch.relu(self.context(h)) + h
        return F.log_softmax(self.leave(h), dim=1)


def train_one_epoch(model, loader, optimizer):
    model.train()
    losses = []
    for images, masks in loader:
        log_probs = model(images)
        loss = F.nll_loss(log_probs, masks.long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if len(losses) % 10 == 1:
            print(f"  batch {len(losses):2d} loss {losses[-1]:.4f}", flush=True)
    return sum(losses) / len(losses)


if __name__ == "__main__":
    torch.manual_seed(0)
    loader = DataLoader(Tiles(), batch_size=10, shuffle=False)
    model = Segmenter()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(3):
        mean = train_one_epoch(model, loader, optimizer)
        print(f"epoch {epoch} mean loss {mean:.4f}")
    print(f"final loss {mean:.4f}")
