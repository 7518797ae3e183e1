import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
DEVICE = torch.device("cuda")

def main(X, Y):
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)).to(DEVICE)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    loader = DataLoader(TensorDataset(X.to(DEVICE), Y.to(DEVICE)), batch_size=8, shuffle=True)
    for x, y in loader:
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x).squeeze(1), y.to(torch.float32))
        loss.backward()
        opt.step()
