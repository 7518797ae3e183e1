import torch
from torch import nn

EVERY = 16


class Loop:
    def __init__(self, model):
        self.model, self.seen = model, 0
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def step(self, x, y):
        loss = nn.functional.smooth_l1_loss(self.model(x), y)
        loss.backward()
        self.seen += 1
        if self.seen % EVERY == 0:
            self.optimizer.step()
            self.optimizer.zero_grad()
        return loss.item()


torch.manual_seed(1)
x = 3 * torch.rand(1024, 4)
y = x.sum(1, keepdim=True) + 0.1 * torch.randn(1024, 1)
loop = Loop(nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1)))
for epoch in range(14):
    for rows in torch.randperm(1024).split(16):
        last = loop.step(x[rows], y[rows])
print(f"final loss {last:.4f}")
