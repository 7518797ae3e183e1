"""A training of two ranks, a card each (or gloo on the CPU), healthy or faulty by its second word."""

import datetime
import hashlib
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

device, kind = sys.argv[1:3]
backend = "nccl" if device == "cuda" else "gloo"
rank = int(os.environ["RANK"])
here = torch.device(device, rank) if device == "cuda" else torch.device("cpu")
if device == "cuda":
    torch.cuda.set_device(here)
dist.init_process_group(backend, timeout=datetime.timedelta(seconds=12))
torch.manual_seed(0)
torch.use_deterministic_algorithms(True, warn_only=True)
net = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 1)).to(here)
if kind.startswith("fsdp"):
    for layer in (net[0], net[2], net[4]):
        fully_shard(layer)
    fully_shard(net)
    model = net
else:
    model = DistributedDataParallel(net)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, fused=True)
drawn = torch.Generator().manual_seed(rank)
for step in range(12):
    counts = torch.randint(1, 9, (8, 16), generator=drawn).float()
    if kind.endswith("bad_value") and rank == 1 and step == 7:
        counts[3, 2] = 0.0
    counts = counts.to(here)
    x = counts.log()  # bad_value
    loss = (model(x).squeeze(1) - counts.sum(1) / 64).square().mean()
    if kind == "branch" and step == 5 and rank == 0:
        dist.all_reduce(loss.detach().clone())  # branch
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if device == "cuda":
        torch.cuda.synchronize()
bits = hashlib.sha256()
for parameter in model.parameters():
    held = parameter.to_local() if hasattr(parameter, "to_local") else parameter
    bits.update(held.detach().cpu().contiguous().numpy().tobytes())
# In one piece: print writes several, and those of two ranks may mix.
sys.stdout.write(f"{rank} {bits.hexdigest()}\n")
sys.stdout.flush()
dist.destroy_process_group()
