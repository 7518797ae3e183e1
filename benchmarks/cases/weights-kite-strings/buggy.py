import datetime
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F


def average(model, world):
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= world


def work(rank, world, port):
    dist.init_process_group(
        "gloo",
        init_method=f"tcp://127.0.0.1:{port}",
        rank=rank,
        world_size=world,
        timeout=datetime.timedelta(seconds=8),
    )
    torch.manual_seed(40 + rank)
    model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(30):
        x = torch.randn(16, 6)
        loss = F.mse_loss(model(x).squeeze(1), x.sum(1))
        optimizer.zero_grad()
        loss.backward()
        average(model, world)
        optimizer.step()
    norm = sum(p.detach().norm() for p in model.parameters()).reshape(1)
    norms = [torch.zeros(1) for _ in range(world)]
    dist.all_gather(norms, norm)
    if rank == 0:
        print("apart by", round((norms[0] - norms[1]).abs().item(), 4), flush=True)
    dist.destroy_process_group()


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


if __name__ == "__main__":
    mp.start_processes(work, args=(2, free_port()), nprocs=2, start_method="fork")
