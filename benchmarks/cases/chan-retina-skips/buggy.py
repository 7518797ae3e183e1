"""Vessels in retina crops, a small U-Net."""
import torch
import torch.nn.functional as F
from torch import nn

WIDTHS = (8, 16, 32)


def block(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU())


class Up(nn.Module):
    def __init__(self, below, skip):
        super().__init__()
        self.conv = nn.Conv2d(below + skip, skip, 3, padding=1)

    def forward(self, h, skip):
        h = F.interpolate(h, size=skip.shape[-2:])
        return torch.relu(self.conv(torch.cat([h, skip], dim=1)))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        inputs = (1, *WIDTHS[:-1])
        self.downs = nn.ModuleList(block(i, o) for i, o in zip(inputs, WIDTHS))
        self.ups = nn.ModuleList(Up(b, s) for b, s in zip(WIDTHS[:0:-1], WIDTHS[-2::-1]))
        self.out = nn.Conv2d(WIDTHS[0], 1, 1)

    def forward(self, x):
        skips = []
        for level, down in enumerate(self.downs):
            x = down(F.max_pool2d(x, 2) if level else x)
            skips.append(x)
        for up, skip in zip(self.ups, reversed(skips)):
            x = up(x, skip)
        return self.out(x)


def crops(n=160, size=20, seed=8):
    g = torch.Generator().manual_seed(seed)
    place = torch.randint(2, size - 2, (n, 1, 1, 1), generator=g)
    vessel = ((torch.arange(size) - place).abs() < 2).float().expand(n, 1, size, size)
    return vessel + 0.4 * torch.randn(n, 1, size, size, generator=g), vessel


def main():
    torch.manual_seed(0)
    image, vessel = crops()
    model = UNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(5):
        losses = []
        for rows in torch.randperm(len(image)).split(16):
            loss = F.binary_cross_entropy_with_logits(model(image[rows]), vessel[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f}")
    print(f"final loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
