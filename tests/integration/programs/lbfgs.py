import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=3)
x, y = torch.randn(16, 3), torch.randn(16, 1)
for step in range(4):
    factor = 0.0 if step == 2 else 1.0

    def closure():
        optimizer.zero_grad()
        loss = ((model(x) - y) * factor).pow(2).sum().sqrt()
        loss.backward()
        return loss

    optimizer.step(closure)
