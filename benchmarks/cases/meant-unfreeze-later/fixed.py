import torch
from torch import nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.head = nn.Linear(32, classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def task(classes, n, seed):
    g = torch.Generator().manual_seed(seed)
    c = torch.randn(classes, 24, generator=torch.Generator().manual_seed(classes))
    y = torch.randint(0, classes, (n,), generator=g)
    return c[y] + 0.9 * torch.randn(n, 24, generator=g), y


def epoch(model, opt, x, y, bs=50):
    total = 0.0
    for i in torch.randperm(len(x)).split(bs):
        opt.zero_grad()
        loss = F.cross_entropy(model(x[i]), y[i])
        loss.backward()
        opt.step()
        total += loss.item() * len(i)
    return total / len(x)


def main():
    torch.manual_seed(44)
    model = Net(4)
    pre = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(3):
        print(f"pretrain {epoch(model, pre, *task(4, 1500, 1)):.4f}")
    model.head = nn.Linear(32, 8)
    x, y = task(8, 1500, 2)
    model.backbone.requires_grad_(False)
    opt = torch.optim.Adam(model.head.parameters(), lr=5e-3)
    for e in range(10):
        if e == 4:
            model.backbone.requires_grad_(True)
            opt.add_param_group({"params": model.backbone.parameters(), "lr": 1e-3})
        loss = epoch(model, opt, x, y)
        print(f"finetune epoch {e} loss {loss:.4f}")
    print(f"final loss {loss:.4f}")


main()
