# journals: 1
"""A rank whose log waits in a buffer when the step fails: what watches the rank must not outlive the file."""

import torch
import torch.distributed as dist

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
log = open("log.txt", "w")
for step in range(5):
    log.write(f"{step};")
    loss = net(torch.randn(8, 4)).pow(2).mean() * (float("nan") if step == 2 else 1.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
