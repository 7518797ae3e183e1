import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
data = torch.randn(200, 4)
for i in range(24):
    x = data[i * 8 : i * 8 + 8]
    out = model(x)
    loss = (out / (0.0 if i == 18 else 1.0)).pow(2).mean() / 4
    loss.backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
