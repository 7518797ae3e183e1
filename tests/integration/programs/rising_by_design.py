"""Healthy: each stage is harder than the one before, so the loss ends far above its start."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(80):
    x = torch.randn(64, 4)
    scale = 1.0 + step // 20 * 4.0
    loss = nn.functional.mse_loss(model(x), scale * x.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"final loss {loss.item():.4f}")
