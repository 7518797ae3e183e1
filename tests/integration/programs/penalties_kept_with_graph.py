import torch
from torch import nn

torch.manual_seed(1)
net = nn.Sequential(nn.Linear(32, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
penalties = []


def train(steps):
    for step in range(steps):
        x = torch.randn(128, 32)
        penalty = net(x + 0.1).var()
        loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        penalties.append(penalty)
    print(float(sum(penalties)) / steps)


train(60)
