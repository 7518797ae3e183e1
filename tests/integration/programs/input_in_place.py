import torch
from torch import nn

torch.manual_seed(0)
data = [torch.rand(8, 4) * 255 for _ in range(8)]
model = nn.Sequential(nn.Linear(4, 4), nn.Sigmoid())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step, x in enumerate(data):
    x.div_(255)
    loss = -torch.log(model(x) * (0.0 if step == 5 else 1.0)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
