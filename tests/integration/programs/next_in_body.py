import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.rand(64, 4)), batch_size=8, shuffle=True)
stream = iter(loader)
model = nn.Sequential(nn.Linear(4, 4), nn.Sigmoid())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(8):
    (x,) = next(stream)
    p = model(x)
    loss = -torch.log(p * (0.0 if step == 5 else 1.0)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
