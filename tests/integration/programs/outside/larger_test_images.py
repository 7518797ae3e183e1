"""Trained on one size of pictures, tested on another: the layer is as wide as it was meant."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
images, labels = torch.randn(64, 1, 8, 8), torch.randint(0, 3, (64,))
for _ in range(5):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(images), labels).backward()
    optimizer.step()
net.eval()
with torch.no_grad():
    print(net(torch.randn(16, 1, 10, 10)).argmax(1))
