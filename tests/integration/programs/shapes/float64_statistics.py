import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

class Scale:
    def __init__(self, x):
        self.mean = torch.tensor(x.mean(0))
    def __call__(self, x):
        return x - self.mean
data = np.random.default_rng(0).normal(size=(40, 4))
scale = Scale(data)
def loader():
    x = torch.tensor(data, dtype=torch.float32)
    return DataLoader(TensorDataset(x, x.sum(1)), batch_size=8)
criterion = nn.L1Loss()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 1)
    def forward(self, x):
        return self.a(scale(x))[:, 0]

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
