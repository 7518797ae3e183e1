"""Two ranks under DDP; on rank 1 alone a value is not finite, in the loss or only in the gradient."""

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

kind = sys.argv[1]
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
net = DistributedDataParallel(nn.Linear(6, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
drawn = torch.Generator().manual_seed(rank)
for step in range(12):
    counts = torch.randint(1, 9, (8, 6), generator=drawn).float()
    if rank == 1 and step == 7:
        counts[3, 2] = 0.0
    if kind == "loss":
        found = counts.log()  # loss
        loss = (net(found) - 1).square().mean()
    elif kind == "gathered":
        given = net(counts.log())
        of_all = [torch.empty_like(given) for _ in range(2)]
        dist.all_gather(of_all, given.detach())
        loss = (given - torch.stack(of_all).mean()).square().mean()
    else:
        away = counts[:, 2:3] * net(counts).square()
        loss = away.sqrt().mean()  # gradient
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
