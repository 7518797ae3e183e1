import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def steps():
    for i in range(6):
        loss = (model(torch.randn(4, 2)) / (0.0 if i == 4 else 1.0)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        yield i
        optimizer.step()


def drive(it):
    for _ in it:
        pass


drive(steps())
