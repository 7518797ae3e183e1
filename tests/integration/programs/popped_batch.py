import torch
from torch import nn

torch.manual_seed(0)
model = nn.Embedding(10, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
history = []
for step in range(6):
    batch = {"ids": torch.randint(0, 10, (4,)), "scale": [1.0, 0.0 if step == 4 else 1.0]}
    ids = batch.pop("ids")
    loss = (model(ids) / batch["scale"].pop()).sum()
    history.append(loss.detach())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
