"""A validation set whose last batch holds one row; training drops its own last batch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.body(x).squeeze()


@torch.no_grad()
def validate(model, loader):
    model.eval()
    scores = []
    for x, _ in loader:
        scores.append(model(x))
    return torch.cat(scores).mean()


def main():
    torch.manual_seed(0)
    x = torch.randn(129, 6)
    data = TensorDataset(x, x.sum(1))
    model = Regressor()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(2):
        model.train()
        for batch, target in DataLoader(data, batch_size=32, shuffle=True, drop_last=True):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(batch), target).backward()
            optimizer.step()
        print(epoch, validate(model, DataLoader(data, batch_size=32)).item())


if __name__ == "__main__":
    main()
