import torch
from torch import nn

torch.manual_seed(0)


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.mixed = nn.Embedding(50, 16), nn.Linear(16, 16)

    def forward(self, ids):
        return self.mixed(self.table(ids))


left, right = Tower(), Tower()
left_step = torch.optim.SGD(left.parameters(), lr=0.2, momentum=0.9)
right_step = torch.optim.SGD(right.parameters(), lr=0.2, momentum=0.9)
pairs = torch.randint(0, 50, (2, 4000))
stars = (pairs[0] % 5 - pairs[1] % 3).float()
for step in range(120):
    rows = torch.randint(0, 4000, (128,))
    left_step.zero_grad()
    out = (left(pairs[0, rows]) * right(pairs[1, rows])).sum(1) / 4
    loss = (out - stars[rows]).square().mean()
    loss.backward()
    left_step.step()
    right_step.step()
print(loss.item())
