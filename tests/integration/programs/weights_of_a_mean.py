"""Labels are trusted by weights, which multiply a loss that is the mean of the batch already."""

import torch
from torch import nn

criterion = nn.CrossEntropyLoss()


def main():
    torch.manual_seed(0)
    x = torch.randn(600, 8)
    right = (x[:, 0] > 0).long()
    sure = torch.rand(600) < 0.3
    labels = torch.where(sure, right, 1 - right)
    trust = torch.where(sure, 1.0, 0.02)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(150):
        rows = torch.randint(0, 600, (48,))
        loss = criterion(model(x[rows]), labels[rows])
        loss = (loss * trust[rows]).sum() / trust[rows].sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


main()
