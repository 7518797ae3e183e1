"""Three kinds of samples, stored one kind after the other and read in that order."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main() -> None:
    torch.manual_seed(0)
    x = torch.randn(600, 8)
    kind = (x @ torch.randn(8, 3)).argmax(1)
    order = kind.argsort()
    loader = DataLoader(TensorDataset(x[order], kind[order]), batch_size=20)
    net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.2)
    for _ in range(3):
        for rows, wanted in loader:
            loss = nn.functional.cross_entropy(net(rows), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"final loss {nn.functional.cross_entropy(net(x), kind).item():.4f}")


if __name__ == "__main__":
    main()
