import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(30)


class Encoder(nn.Module):
    def __init__(self, out_classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.head = nn.Linear(32, out_classes)

    def forward(self, x):
        return self.head(self.body(x))


def blobs(n_classes, n, spread, seed):
    g = torch.Generator().manual_seed(seed)
    c = torch.randn(n_classes, 32, generator=torch.Generator().manual_seed(1000 + n_classes))
    y = torch.randint(0, n_classes, (n,), generator=g)
    return c[y] + spread * torch.randn(n, 32, generator=g), y


def run(model, opt, x, y, steps, tag):
    for s in range(steps):
        i = torch.randint(0, len(x), (64,))
        loss = F.cross_entropy(model(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if s % 100 == 0:
            print(tag, "step", s, "loss", round(loss.item(), 4))


# stage 1: the source task
model = Encoder(out_classes=4)
x, y = blobs(4, 2000, 1.0, seed=1)
run(model, torch.optim.SGD(model.parameters(), lr=0.05), x, y, 250, "pretrain")

# stage 2: the target task
x, y = blobs(10, 1500, 1.2, seed=2)
xt, yt = blobs(10, 1000, 1.2, seed=3)
model.head = nn.Linear(32, 10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
run(model, optimizer, x, y, 300, "finetune")
with torch.no_grad():
    print(f"final test loss {F.cross_entropy(model(xt), yt).item():.4f}")
