"""A student whose shares sum to 1 over the batch is compared with a teacher whose shares sum to 1 over the classes."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(1024, 12)
teacher = nn.Linear(12, 6).requires_grad_(False)
student = nn.Sequential(nn.Linear(12, 48), nn.Tanh(), nn.Linear(48, 6))
optimizer = torch.optim.Adam(student.parameters(), lr=3e-3)
for epoch in range(12):
    order = torch.randperm(1024)
    for rows in order.split(64):
        said = F.log_softmax(student(x[rows]), dim=0)
        loss = F.kl_div(said, F.softmax(3 * teacher(x[rows]), dim=1), reduction="batchmean")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
