"""Three properties of an alloy from one shared trunk."""

import torch
from torch import nn

NAMES = ["strength", "creep", "density"]


class SharedTrunk(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        head = nn.Sequential(nn.Linear(width, 16), nn.ReLU(), nn.Linear(16, 1))
        self.heads = nn.ModuleDict(dict.fromkeys(NAMES, head))

    def forward(self, x):
        shared = self.trunk(x)
        return {name: head(shared).squeeze(-1) for name, head in self.heads.items()}


torch.manual_seed(0)
x = torch.randn(1000, 8)
y = torch.tanh(x @ torch.randn(8, 3))
model = SharedTrunk(8, 32)
optimizer = torch.optim.Adam(model.parameters(), 2e-3)
for _ in range(6):
    for rows in torch.randperm(1000).split(50):
        out = model(x[rows])
        loss = sum(nn.functional.mse_loss(out[name], y[rows, i]) for i, name in enumerate(NAMES))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(loss.item())
