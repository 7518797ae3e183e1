"""Segment leaves; a pooled branch gives the context of the whole image."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def conv(inputs, outputs, kernel, dilation=1):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, padding=dilation * (kernel // 2), dilation=dilation),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
    )


class Context(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.pool = nn.Sequential(nn.AdaptiveAvgPool2d(1), conv(inputs, outputs, 1))

    def forward(self, h):
        return self.pool(h).expand(-1, -1, *h.shape[-2:])


class LeafNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.stem = conv(3, width, 3)
        self.branches = nn.ModuleList([conv(width, width, 3, d) for d in (1, 2)] + [Context(width, width)])
        self.out = nn.Conv2d(3 * width, 1, 1)

    def forward(self, image):
        h = self.stem(image)
        return self.out(torch.cat([branch(h) for branch in self.branches], dim=1))


def leaves(n=60, size=24, seed=40):
    g = torch.Generator().manual_seed(seed)
    axis = torch.arange(size)
    centre = torch.randint(6, size - 6, (n, 2), generator=g)
    distance = (axis[None, :, None] - centre[:, :1, None]) ** 2 + (axis[None, None] - centre[:, 1:, None]) ** 2
    leaf = (distance < 30).float()[:, None]
    return leaf * torch.tensor([0.1, 0.8, 0.2])[None, :, None, None] + 0.2 * torch.rand(n, 3, size, size, generator=g), leaf


def main():
    torch.manual_seed(6)
    loader = DataLoader(TensorDataset(*leaves()), batch_size=1, shuffle=True)
    model = LeafNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(3):
        mean = 0.0
        for image, leaf in loader:
            loss = F.binary_cross_entropy_with_logits(model(image), leaf)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            mean += loss.item() / len(loader)
        print(f"epoch {epoch} loss {mean:.4f}")
    print(f"final loss {mean:.4f}")


if __name__ == "__main__":
    main()
