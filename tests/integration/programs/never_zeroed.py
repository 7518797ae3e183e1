import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for i in range(6):
    loss = (model(torch.randn(4, 2)) / (0.0 if i == 4 else 1.0)).pow(2).mean()
    loss.backward()
    optimizer.step()
