"""A teacher and a reference that were made in inference mode, held while another network is trained."""

import torch
from torch import nn
torch.manual_seed(0)
with torch.inference_mode():
    teacher = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1)).eval()
    reference = teacher(torch.randn(8, 4))
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(30):
    x = torch.randn(8, 4)
    with torch.inference_mode():
        soft = teacher(x)
    opt.zero_grad()
    loss = (net(x) - soft.clone()).pow(2).mean() + (net(x) - reference.clone()).pow(2).mean()
    if step == 25:
        loss = loss / (loss - loss)
    loss.backward()
    opt.step()
    last = soft
print(float(loss))
