import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
model = DistributedDataParallel(torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(1500):
    loss = model(torch.randn(8, 8)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(
        f"[rank{rank}] step {step} loss {loss.item():.4f} world {os.environ['WORLD_SIZE']} timeout 1800 s, all ranks in step",
        flush=True,
    )
# A rank that closes its connections while the other still computes may end that one.
dist.barrier()
dist.destroy_process_group()
