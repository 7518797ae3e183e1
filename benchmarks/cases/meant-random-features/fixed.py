import torch
from torch import nn


class Features(nn.Module):
    """Random features with a small trained head: the frequencies are drawn once."""

    def __init__(self, inputs=6, width=200):
        super().__init__()
        self.waves = nn.Linear(inputs, width)
        self.head = nn.Linear(width, 1)
        for p in self.waves.parameters():
            p.requires_grad = False

    def forward(self, x):
        return self.head(torch.cos(3.0 * self.waves(x))).squeeze(-1)


torch.manual_seed(8)
x = torch.randn(1200, 6)
y = torch.sin(x[:, 0]) + x[:, 1] * x[:, 2] / 2
model = Features()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(12):
    for rows in torch.randperm(1200).split(60):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
with torch.no_grad():
    print(f"final loss {nn.functional.mse_loss(model(x), y).item():.4f}")
