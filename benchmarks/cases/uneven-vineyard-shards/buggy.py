import datetime
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel


def parcels(count):
    draws = torch.Generator().manual_seed(4)
    x = torch.randn(count, 5, generator=draws)
    return x, (x * torch.arange(1, 6)).sum(1)


def batches_of(rank, world, size=12):
    x, y = parcels(156)
    mine = range(rank, len(x) // size, world)
    return [(x[i * size : (i + 1) * size], y[i * size : (i + 1) * size]) for i in mine]


def work(rank, world, port):
    dist.init_process_group(
        "gloo",
        init_method=f"tcp://127.0.0.1:{port}",
        rank=rank,
        world_size=world,
        timeout=datetime.timedelta(seconds=8),
    )
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Linear(5, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    batches = batches_of(rank, world)
    for epoch in range(3):
        for x, y in batches:
            loss = F.mse_loss(model(x).squeeze(1), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        dist.barrier()
        if rank == 0:
            print("epoch", epoch, "loss", round(loss.item(), 4), flush=True)
    dist.destroy_process_group()


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


if __name__ == "__main__":
    mp.start_processes(work, args=(2, free_port()), nprocs=2, start_method="fork")
