import torch
from torch import nn
from torch_geometric.nn import GINConv

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = GINConv(nn.Sequential(nn.Linear(4, 8), nn.ReLU()))
        self.conv2 = GINConv(nn.Sequential(nn.Linear(8, 1), nn.Sigmoid()))

    def forward(self, x, edges):
        x = self.conv1(x, edges)
        return self.conv2(x, edges)

def fit(loader):
    net = Net()
    crit = nn.BCELoss()
    opt = torch.optim.Adam(net.parameters())
    for g in loader:
        opt.zero_grad()
        loss = crit(net(g.x, g.edges), g.y)
        loss.backward()
        opt.step()
