import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

def load():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 4)).astype(np.float32)
    y = (x[:, 0] > 0).astype(np.float32)
    return TensorDataset(torch.from_numpy(x), torch.from_numpy(y))
def loader():
    return DataLoader(load(), batch_size=8)
criterion = nn.CrossEntropyLoss()

class Net(nn.Module):
    def __init__(self, n=4, out=2):
        super().__init__()
        self.a = nn.Linear(n, 16)
        self.b = nn.Linear(16, out)
    def forward(self, x):
        return self.b(torch.relu(self.a(x)))

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
