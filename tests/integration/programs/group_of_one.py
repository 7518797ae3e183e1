import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
os.environ.setdefault("MASTER_PORT", os.environ.get("TRY_PORT", "29741"))
dist.init_process_group("gloo", rank=0, world_size=1)
torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs = torch.rand(40, 4)
shares = torch.rand(40, 1) + 0.1
shares[30] = 0.0
for i in range(8):
    x, y = inputs[5 * i : 5 * i + 5], shares[5 * i : 5 * i + 5]
    loss = -(y * torch.log(y)).mean() + (model(x) - y).pow(2).mean()
    total = loss.detach().clone()
    dist.all_reduce(total)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
