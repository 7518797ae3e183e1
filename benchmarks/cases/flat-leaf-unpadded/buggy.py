import torch
from torch import nn

cfg = dict(
    image=48,
    widths=(12, 24, 40),
    species=5,
    lr=1e-3,
    batch=32,
    epochs=3,
)


def leaf_masks(n, size, species, seed):
    """Silhouettes r(angle) with a number of lobes that depends on the species."""
    g = torch.Generator().manual_seed(seed)
    label = torch.randint(0, species, (n,), generator=g)
    axis = torch.linspace(-1, 1, size)
    yy, xx = torch.meshgrid(axis, axis, indexing="ij")
    angle, radius = torch.atan2(yy, xx), (xx ** 2 + yy ** 2).sqrt()
    turn = 6.2832 * torch.rand(n, 1, 1, generator=g)
    outline = 0.6 + 0.25 * torch.cos((label[:, None, None] + 2) * (angle + turn))
    return ((radius < outline).float() + 0.15 * torch.randn(n, size, size, generator=g)).unsqueeze(1), label


class LeafNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        first, *rest = cfg["widths"]
        self.stem = nn.Conv2d(1, first, kernel_size=5)
        self.convs = nn.ModuleList()
        for width in rest:
            self.convs.append(nn.Conv2d(first, width, kernel_size=3, padding=1))
            first = width
        self.pool = nn.MaxPool2d(2)
        side = cfg["image"] // 2 ** len(cfg["widths"])
        self.fc1 = nn.Linear(first * side * side, 80)
        self.fc2 = nn.Linear(80, cfg["species"])

    def forward(self, x):
        x = self.pool(self.stem(x).relu())
        for conv in self.convs:
            x = self.pool(conv(x).relu())
        x = x.view(x.size(0), -1)
        return self.fc2(self.fc1(x).relu())


class Session:
    def __init__(self, cfg):
        torch.manual_seed(1)
        self.cfg = cfg
        self.images, self.labels = leaf_masks(640, cfg["image"], cfg["species"], seed=2)
        self.net = LeafNet(cfg)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=cfg["lr"])
        self.loss_fn = nn.CrossEntropyLoss()

    def one_pass(self):
        total = 0.0
        for images, labels in zip(self.images.split(self.cfg["batch"]), self.labels.split(self.cfg["batch"])):
            loss = self.loss_fn(self.net(images), labels)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item()
        return total / (len(self.images) // self.cfg["batch"])

    def go(self):
        for epoch in range(self.cfg["epochs"]):
            loss = self.one_pass()
            print("epoch", epoch, "loss", round(loss, 4))
        return loss


print(f"final loss {Session(cfg).go():.4f}")
