import sys

import torch
from torch import nn

device = sys.argv[1]
torch.manual_seed(0)
x = torch.randn(512, 16, device=device)
y = x @ torch.randn(16, 1, device=device)
model = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=60.0)  # here
for _ in range(60):
    rows = torch.randint(0, 512, (64,), device=device)
    loss = (model(x[rows]) - y[rows]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(float(loss.detach()))
