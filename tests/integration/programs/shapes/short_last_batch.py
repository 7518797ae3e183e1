import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

def loader():
    g = torch.Generator().manual_seed(0)
    x = torch.randn(20, 4, generator=g)
    return DataLoader(TensorDataset(x, x.sum(1)), batch_size=8)
seen = np.zeros(8)
def criterion(p, y):
    seen[:] = (p - y).abs().detach().numpy()
    return F.mse_loss(p, y)

class Net(nn.Module):
    def __init__(self, n=4, out=1):
        super().__init__()
        self.a = nn.Linear(n, 16)
        self.b = nn.Linear(16, out)
    def forward(self, x):
        return self.b(torch.relu(self.a(x)))[:, 0]

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
