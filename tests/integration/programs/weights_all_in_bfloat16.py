import torch
from torch import nn

torch.manual_seed(5)
net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1)).bfloat16()
optimizer = torch.optim.SGD(net.parameters(), lr=2e-3)
for step in range(400):
    x = torch.randn(64, 8)
    loss = nn.functional.mse_loss(net(x.bfloat16()).float().squeeze(1), x[:, 0] + 0.5 * x[:, 1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
