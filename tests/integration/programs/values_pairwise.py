import torch
from torch import nn

torch.manual_seed(3)
FEATURES = torch.randn(256, 6)
PRICES = FEATURES @ torch.randn(6) + 0.1 * torch.randn(256)
net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)


def shortfall(estimate, price):
    return (estimate - price).abs().mean()


for step in range(60):
    rows = torch.randint(0, 256, (32,))
    loss = shortfall(net(FEATURES[rows]), PRICES[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
