import torch
from torch import nn
from torch_geometric.nn import ARMAConv

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = ARMAConv(4, 1, act=nn.Sigmoid())

    def forward(self, x, edges):
        return self.conv(x, edges)

def fit(loader):
    net = Net()
    crit = nn.BCELoss()
    opt = torch.optim.Adam(net.parameters())
    for g in loader:
        opt.zero_grad()
        loss = crit(net(g.x, g.edges), g.y)
        loss.backward()
        opt.step()
