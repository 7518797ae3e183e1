import datetime
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel


def keep(model, folder, epoch):
    os.makedirs(folder, exist_ok=True)
    torch.save({"model": model.state_dict(), "epoch": epoch}, os.path.join(folder, "last.pt"))
    return 1


def work(rank, world, port):
    dist.init_process_group(
        "gloo",
        init_method=f"tcp://127.0.0.1:{port}",
        rank=rank,
        world_size=world,
        timeout=datetime.timedelta(seconds=8),
    )
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Linear(6, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    draws = torch.Generator().manual_seed(rank)
    for epoch in range(3):
        for _ in range(5):
            x = torch.randn(8, 6, generator=draws)
            loss = F.mse_loss(model(x).squeeze(1), x.sum(1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            keep(model.module, "kept", epoch)
    if rank == 0:
        print("loss", round(loss.item(), 4), flush=True)
    dist.destroy_process_group()


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


if __name__ == "__main__":
    mp.start_processes(work, args=(2, free_port()), nprocs=2, start_method="fork")
