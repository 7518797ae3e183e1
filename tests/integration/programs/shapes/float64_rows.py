import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

class Rows(Dataset):
    def __init__(self):
        rng = np.random.default_rng(0)
        self.x = rng.normal(size=(40, 4))
        self.y = self.x.sum(1)
    def __len__(self):
        return 40
    def __getitem__(self, i):
        return self.x[i], np.float32(self.y[i])
def loader():
    return DataLoader(Rows(), batch_size=8)
criterion = nn.MSELoss()

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
