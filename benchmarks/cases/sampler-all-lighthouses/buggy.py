import datetime
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset


def lights(count):
    draws = torch.Generator().manual_seed(2)
    x = torch.randn(count, 6, generator=draws)
    return TensorDataset(x, (x[:, 0] * x[:, 1] > 0).float())


def work(rank, world, port):
    dist.init_process_group(
        "gloo",
        init_method=f"tcp://127.0.0.1:{port}",
        rank=rank,
        world_size=world,
        timeout=datetime.timedelta(seconds=8),
    )
    torch.manual_seed(10 + rank)
    loader = DataLoader(lights(192), batch_size=16, shuffle=True)
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    steps = 0
    for epoch in range(3):  # noqa: B007
        for x, y in loader:
            loss = F.binary_cross_entropy_with_logits(model(x).squeeze(1), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps += 1
    if rank == 0:
        print("steps", steps, flush=True)
    dist.destroy_process_group()


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


if __name__ == "__main__":
    mp.start_processes(work, args=(2, free_port()), nprocs=2, start_method="fork")
