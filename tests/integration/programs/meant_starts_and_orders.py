"""A training whose last layer begins at zero, whose rows are read in order, and whose buffer is written to: all meant."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main() -> None:
    torch.manual_seed(0)
    x = torch.randn(200, 6)
    y = x @ torch.randn(6, 1)
    net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 16), nn.Sigmoid(), nn.Linear(16, 1))
    nn.init.zeros_(net[-1].weight)
    loader = DataLoader(TensorDataset(x, y), batch_size=20)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    recent = torch.zeros(50, 6)
    for _ in range(4):
        for number, (rows, wanted) in enumerate(loader):
            recent[(20 * number) % 40 : (20 * number) % 40 + 10] = rows[:10]
            loss = nn.functional.mse_loss(net(rows + 0.001 * recent.mean(0)), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"final loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
