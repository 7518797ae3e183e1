"""Remaining capacity of battery cells from charging curves."""
import torch
import torch.nn as nn

OPTIM = {"lr": 0.005, "momentum": 0.9, "weight_decay": 1e-4}
POINTS = 30


def curves(cells=640, seed=10):
    g = torch.Generator().manual_seed(seed)
    age = torch.rand(cells, 1, generator=g)
    t = torch.linspace(0, 1, POINTS)
    voltage = 3.2 + t.pow(0.3 + 0.7 * age) + 0.02 * torch.randn(cells, POINTS, generator=g)
    voltage = (voltage - voltage.mean(0)) / voltage.std(0)
    return voltage, 4 - 3 * age[:, 0]


class CapacityNet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.inp = nn.Linear(POINTS, width)
        self.mid = nn.Linear(width, width)
        self.out = nn.Linear(width, 1)

    def forward(self, v):
        h = torch.relu(self.inp(v))
        h = h + torch.relu(self.mid(h))
        return self.out(h)[:, 0]


def make_optimizer(model):
    return torch.optim.SGD(model.parameters(), lr=OPTIM["lr"], momentum=OPTIM["momentum"],
                           weight_decay=OPTIM["weight_decay"])


def train(epochs=8, batch=32):
    torch.manual_seed(4)
    v, capacity = curves()
    model = CapacityNet()
    optimizer = make_optimizer(model)
    for epoch in range(epochs):
        order, losses = torch.randperm(len(v)), []
        for rows in order.split(batch):
            loss = (model(v[rows]) - capacity[rows]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        mean = torch.stack(losses).mean().item()
        print(f"epoch {epoch} loss {mean:.4f}")
    return mean


if __name__ == "__main__":
    print(f"final loss {train():.4f}")
