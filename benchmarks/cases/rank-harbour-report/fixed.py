import datetime
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel


class Berths(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


def mean_over_ranks(value):
    total = torch.tensor([value, 1.0])
    dist.all_reduce(total)
    return (total[0] / total[1]).item()


def work(rank, world, port):
    dist.init_process_group(
        "gloo",
        init_method=f"tcp://127.0.0.1:{port}",
        rank=rank,
        world_size=world,
        timeout=datetime.timedelta(seconds=8),
    )
    torch.manual_seed(0)
    model = DistributedDataParallel(Berths())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    draws = torch.Generator().manual_seed(rank)
    for step in range(24):
        x = torch.randn(16, 6, generator=draws)
        loss = F.mse_loss(model(x), x.sum(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 8 == 7:
            mean = mean_over_ranks(loss.item())
            if rank == 0:
                print("step", step, "loss", round(mean, 4), flush=True)
    dist.destroy_process_group()


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


if __name__ == "__main__":
    mp.start_processes(work, args=(2, free_port()), nprocs=2, start_method="fork")
