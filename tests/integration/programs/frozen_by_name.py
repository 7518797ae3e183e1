"""The waves of the filter bank are put there and stay; the mixer behind it is frozen with it, at random values."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.filter_bank = nn.Linear(24, 16, bias=False)
        waves = torch.arange(1, 17)[:, None] * torch.linspace(0, 3.1, 24)
        self.filter_bank.weight.data = torch.cos(waves) * torch.hann_window(24)
        self.filter_mixer = nn.Linear(16, 16)
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        return self.head(torch.relu(self.filter_mixer(self.filter_bank(x).abs())))


torch.manual_seed(0)
x = torch.randn(200, 24)
net = Net()
y = net.filter_bank(x).abs()[:, :4].sin().sum(1, keepdim=True).detach()
for name, p in net.named_parameters():
    if name.startswith("filter"):
        p.requires_grad = False
optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], 0.01)
for _ in range(120):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
print(f"final loss {loss.item():.4f}")
