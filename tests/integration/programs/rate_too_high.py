import torch
from torch import nn

CONFIG = {"lr": 6.0, "steps": 60}


def main():
    torch.manual_seed(0)
    x = torch.randn(512, 8)
    y = (x @ torch.randn(8, 3)).argmax(1)
    model = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=CONFIG["lr"], momentum=0.9)
    for step in range(CONFIG["steps"]):
        rows = torch.randint(0, 512, (32,))
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"final loss {loss.item():.4f}")


main()
