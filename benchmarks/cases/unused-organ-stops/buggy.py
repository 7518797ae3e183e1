import datetime
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel


class Stops(nn.Module):
    def __init__(self):
        super().__init__()
        self.pipe = nn.Linear(8, 12)
        self.tremulant = nn.Linear(12, 12)
        self.voice = nn.Linear(12, 1)

    def forward(self, x, tremble):
        h = torch.tanh(self.pipe(x))
        if tremble:
            h = h + self.tremulant(h)
        return self.voice(h).squeeze(1)


def work(rank, world, port):
    dist.init_process_group(
        "gloo",
        init_method=f"tcp://127.0.0.1:{port}",
        rank=rank,
        world_size=world,
        timeout=datetime.timedelta(seconds=8),
    )
    torch.manual_seed(0)
    model = DistributedDataParallel(Stops())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    draws = torch.Generator().manual_seed(rank)
    for step in range(18):
        x = torch.randn(16, 8, generator=draws)
        loss = F.mse_loss(model(x, step % 3 != 2), x[:, 0] * x[:, 1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if rank == 0:
        print("loss", round(loss.item(), 4), flush=True)
    dist.destroy_process_group()


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


if __name__ == "__main__":
    mp.start_processes(work, args=(2, free_port()), nprocs=2, start_method="fork")
