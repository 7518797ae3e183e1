import os
import sys

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.into = nn.Linear(6, 6)
        self.norm = nn.BatchNorm1d(6)
        self.out = nn.Linear(6, 6)
        self.out.weight = self.into.weight
        self.register_buffer("kept", torch.ones(6))
        self.register_buffer("made_anew", torch.zeros(6), persistent=False)

    def forward(self, x):
        return self.out(torch.tanh(self.norm(self.into(x)))) * self.kept


model = Net()
api_key = os.environ.get("SERVICE_API_KEY", "none")
groups = [{"params": model.into.parameters()}, {"params": model.norm.parameters(), "lr": 0.5, "betas": (0.8, 0.9)}]
optimizer = torch.optim.AdamW(groups, lr=1e-2)
data = torch.rand(64, 6) + 1000.0
for step in range(8):
    batch = data[torch.randint(0, 64, (8,))]
    if step == 5:
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "own.pt")
    loss = model(batch).square().mean()
    if step == 5:
        loss = torch.log(loss * 0.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("done", sys.argv[1:])
