import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 1), nn.Sigmoid())
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
data = torch.rand(64, 4)
for step in range(12):
    batch = data[torch.randint(0, 64, (8,))]
    scale = 0.0 if step == 7 else 1.0
    loss = -torch.log(model(batch) * scale).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("done")
