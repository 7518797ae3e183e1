import datetime
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def rows(count):
    draws = torch.Generator().manual_seed(1)
    x = torch.randn(count, 6, generator=draws)
    return TensorDataset(x, x.sum(1))


def work(rank, world, port):
    dist.init_process_group(
        "gloo",
        init_method=f"tcp://127.0.0.1:{port}",
        rank=rank,
        world_size=world,
        timeout=datetime.timedelta(seconds=8),
    )
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(6, 16), nn.Dropout(0.2), nn.Linear(16, 1)))
    torch.manual_seed(100 + rank)
    data = rows(128)
    sampler = DistributedSampler(data, world, rank)
    loader = DataLoader(data, batch_size=16, sampler=sampler)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = F.mse_loss(model(x).squeeze(1), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            torch.save(model.module.state_dict(), "last.pt")
        dist.barrier()
    if rank == 0:
        print("loss", round(loss.item(), 4), flush=True)
    dist.destroy_process_group()


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


if __name__ == "__main__":
    mp.start_processes(work, args=(2, free_port()), nprocs=2, start_method="fork")
