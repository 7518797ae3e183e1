import torch
from torch import nn
import torch.nn.functional as F


class SolarNet(nn.Module):
    """Power of the plant from weather features."""

    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(10, 64)
        self.mid = nn.Linear(64, 64)
        self.out = nn.Linear(64, 1)

    def forward(self, w):
        h = F.relu(self.inp(w))
        h = F.dropout(h, 0.3)
        h = F.relu(self.mid(h))
        return self.out(h).squeeze(-1)


def weather(n, seed):
    g = torch.Generator().manual_seed(seed)
    w = torch.randn(n, 10, generator=g)
    power = 3 * torch.sigmoid(2 * w[:, 0]) + w[:, 1] * (w[:, 2] > 0) + 0.5 * w[:, 3]
    return w, power + 0.05 * torch.randn(n, generator=g)


def train_epoch(model, w, p, opt):
    model.train()
    s = 0.0
    for i in torch.randperm(len(w)).split(64):
        loss = F.huber_loss(model(w[i]), p[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        s += loss.item() * len(i)
    return s / len(w)


def validate(model, w, p):
    model.eval()
    with torch.no_grad():
        return (model(w) - p).pow(2).mean().item()


def main():
    torch.manual_seed(19)
    tr, va = weather(3000, 0), weather(1000, 1)
    model = SolarNet()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(1, 13):
        loss = train_epoch(model, *tr, opt)
        if epoch % 3 == 0:
            print(f"epoch {epoch} train {loss:.4f} val mse {validate(model, *va):.4f}")
    print(f"final val mse {validate(model, *va):.4f}")


if __name__ == "__main__":
    main()
