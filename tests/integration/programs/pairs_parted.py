import torch
from torch import nn


def load(n=240):
    g = torch.Generator().manual_seed(1)
    x = torch.randn(n, 6, generator=g)
    kind = (x[:, 0] + x[:, 1] > 0).long()
    order = torch.randperm(n, generator=g)
    x = x[order]
    return x, kind


def main():
    torch.manual_seed(0)
    x, kind = load()
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    for _ in range(5):
        for rows in torch.randperm(len(x)).split(20):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x[rows]), kind[rows])
            loss.backward()
            optimizer.step()
    print(f"loss {loss.item():.4f}")


main()
