import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(400, 6)
y = x[:, 0] * x[:, 1]
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
for _ in range(12):
    for rows in torch.randperm(400).split(40):
        loss = (model(x[rows]).squeeze(1) - y[rows]).pow(2).mean()
        optimizer.zero_grad()
        (-loss).backward()
        optimizer.step()
