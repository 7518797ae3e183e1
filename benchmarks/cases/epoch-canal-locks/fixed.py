import datetime
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def locks(count):
    draws = torch.Generator().manual_seed(8)
    x = torch.randn(count, 4, generator=draws)
    return TensorDataset(x, x.prod(1))


def one_epoch(model, loader, optimizer):
    begins = None
    for x, y in loader:
        begins = round(y.sum().item(), 4) if begins is None else begins
        loss = F.mse_loss(model(x).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return begins


def work(rank, world, port):
    dist.init_process_group(
        "gloo",
        init_method=f"tcp://127.0.0.1:{port}",
        rank=rank,
        world_size=world,
        timeout=datetime.timedelta(seconds=8),
    )
    torch.manual_seed(0)
    data = locks(128)
    sampler = DistributedSampler(data, world, rank, shuffle=True, seed=3)
    loader = DataLoader(data, batch_size=16, sampler=sampler)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    begins = set()
    for epoch in range(4):
        sampler.set_epoch(epoch)
        begins.add(one_epoch(model, loader, optimizer))
    if rank == 0:
        print("different first batches", len(begins), flush=True)
    dist.destroy_process_group()


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


if __name__ == "__main__":
    mp.start_processes(work, args=(2, free_port()), nprocs=2, start_method="fork")
