import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(20, 48), nn.GELU(), nn.Linear(48, 24), nn.GELU())
        self.head = nn.Linear(24, classes)

    def forward(self, x):
        return self.head(self.body(x))


def make(n, classes, seed):
    g = torch.Generator().manual_seed(seed)
    w = torch.randn(20, classes, generator=torch.Generator().manual_seed(40 + classes))
    x = torch.randn(n, 20, generator=g)
    return x, (torch.sin(2 * x) @ w).argmax(1)


def fit(model, opt, x, y, epochs):
    for _ in range(epochs):
        for i in torch.randperm(len(x)).split(64):
            loss = nn.functional.cross_entropy(model(x[i]), y[i])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return loss.item()


torch.manual_seed(1)
model = Tagger(6)
for p in model.body.parameters():
    p.requires_grad = False
x, y = make(2000, 6, 1)
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
print("head only", fit(model, opt, x, y, 3))
model.body.requires_grad_(True)
print("final loss", round(fit(model, opt, x, y, 12), 4))
