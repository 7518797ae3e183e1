import torch
from torch import nn

torch.manual_seed(0)
model = torch.compile(nn.Sequential(nn.Linear(4, 4), nn.Sigmoid()), backend="eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(6):
    loss = -torch.log(model(torch.rand(8, 4)) * (0.0 if step == 4 else 1.0)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
