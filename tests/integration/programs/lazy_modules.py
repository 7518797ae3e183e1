import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 1, 8, 8), torch.randint(0, 3, (64,))
model = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.ReLU(), nn.Flatten(), nn.LazyLinear(3))
model(x[:2])
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(6):
    for rows in torch.randperm(64).split(16):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
