"""A classifier whose loss applies softmax to probabilities."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(8, 32),
            nn.Tanh(),
            nn.Linear(32, 6),
            nn.Softmax(dim=-1),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x @ torch.randn(8, 6)).argmax(1)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()
for _ in range(60):
    rows = torch.randint(0, 256, (32,))
    optimizer.zero_grad()
    loss = criterion(net(x[rows]), y[rows])
    loss.backward()
    optimizer.step()
print("final loss", loss.item())
