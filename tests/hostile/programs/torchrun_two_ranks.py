# journals: 2
# launch: torchrun --nproc_per_node=2 --master_port=0 --rdzv_backend=c10d --rdzv_endpoint=127.0.0.1:0 {file}
# scrub: \[?[WEI]\d{4} \d\d:\d\d:\d\d\.\d+ \d+
# own-abort: terminate called without an active exception
"""DistributedDataParallel over two processes that torchrun starts."""
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(rank)
net = DistributedDataParallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
log = open(f"rank-{rank}.txt", "w")
for step in range(4):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()), file=log)
print(__name__, __spec__, os.environ["WORLD_SIZE"], os.environ["OMP_NUM_THREADS"], file=log)
torch.save(net.module.state_dict(), f"final-{rank}.pt")
log.close()
if rank == 0:
    print("rank 0 ended")
# Else the group's threads may outlive it until the interpreter ends, which now and then aborts.
del net, optimizer, loss
dist.barrier()
dist.destroy_process_group()
