"""A warm-up counted in steps whose schedule is stepped once per pass over the data."""

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
x = torch.randn(960, 10)
y = torch.sin(0.3 * (x @ torch.randn(10, 3)))
loader = DataLoader(TensorDataset(x, y), batch_size=48, shuffle=True)
model = nn.Sequential(nn.Linear(10, 64), nn.Tanh(), nn.Linear(64, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
warmup = 60
schedule = LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / warmup))
for epoch in range(6):
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
    schedule.step()
    print(epoch, loss.item())
