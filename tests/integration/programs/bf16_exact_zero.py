"""A target of exactly 0 in bfloat16: float32 would not help."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 6).bfloat16()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(128, 4).bfloat16()
counts = torch.randint(0, 4, (128, 6)).bfloat16()
for i in range(20):
    target = counts[i * 6 :][:6] / 3
    p = net(x[i * 6 :][:6]).softmax(-1)
    loss = (target * (target.log() - p.log())).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("final loss", loss.item())
