"""A small net for edges of images begins with the lower half of a large one."""

from copy import deepcopy
import torch
from torch import nn
import torch.nn.functional as F


class Large(nn.Module):
    def __init__(self):
        super().__init__()
        self.lower = nn.Sequential(nn.Linear(20, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU())
        self.upper = nn.Sequential(nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU())
        self.last = nn.Linear(48, 5)

    def forward(self, x):
        return self.last(self.upper(self.lower(x)))


class Small(nn.Module):
    def __init__(self, large):
        super().__init__()
        self.body = deepcopy(large.lower)
        self.last = nn.Linear(48, 5)

    def forward(self, x):
        return self.last(self.body(x))


def turn_off(net):
    net.eval()
    for p in net.parameters():
        p.requires_grad_(False)


torch.manual_seed(2)
x = torch.randn(2400, 20)
y = (x[:, :5] * x[:, 5:10] + x[:, 10:15].abs()).argmax(1)
teacher = Large()
opt = torch.optim.Adam(teacher.parameters(), 2e-3)
for epoch in range(4):
    for idx in torch.randperm(2400).split(60):
        loss = F.cross_entropy(teacher(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
turn_off(teacher)
pupil = Small(teacher)
opt = torch.optim.Adam(pupil.parameters(), 2e-3)
for epoch in range(4):
    for idx in torch.randperm(2400).split(60):
        with torch.no_grad():
            soft = F.softmax(teacher(x[idx]) / 2, 1)
        loss = F.kl_div(F.log_softmax(pupil(x[idx]) / 2, 1), soft, reduction="batchmean")
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
