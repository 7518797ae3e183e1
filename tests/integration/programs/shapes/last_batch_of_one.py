import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

def loader():
    g = torch.Generator().manual_seed(0)
    x = torch.randn(41, 4, generator=g)
    return DataLoader(TensorDataset(x, x.sum(1)), batch_size=8, shuffle=True)
criterion = nn.MSELoss()
class Net(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1), nn.Flatten(0))

def main():
    torch.manual_seed(0)
    model = Net()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(2):
        for x, y in loader():
            loss = criterion(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
    print("done", loss.item())

main()
