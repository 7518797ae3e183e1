"""An image and the mask that belongs to it are each turned by a draw of their own."""

import random

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Discs(Dataset):
    def __init__(self, count):
        rows, columns = torch.meshgrid(torch.arange(12.0), torch.arange(12.0), indexing="ij")
        centres = torch.rand(count, 2) * 6 + 1
        away = (rows - centres[:, 0, None, None]) ** 2 + (columns - centres[:, 1, None, None]) ** 2
        self.masks = (away < 6).float().unsqueeze(1)
        self.images = torch.exp(-away / 6).unsqueeze(1) + 0.1 * torch.randn(count, 1, 12, 12)

    def __len__(self):
        return len(self.images)

    def augment(self, picture):
        if random.random() < 0.5:
            picture = picture.flip(-1)
        if random.random() < 0.5:
            picture = picture.flip(-2)
        return picture

    def __getitem__(self, index):
        image = self.augment(self.images[index])
        return image, self.augment(self.masks[index])


def main():
    random.seed(0)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(8):
        for image, mask in DataLoader(Discs(160), batch_size=16, shuffle=True):
            loss = F.binary_cross_entropy_with_logits(model(image), mask)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"loss {loss.item():.4f}")


main()
