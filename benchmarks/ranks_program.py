"""One program of several ranks, faulty or healthy by its name: python ranks_program.py NAME RANKS.

The line that is to be named ends in ``# NAME``; ``ranks.py`` reads these marks.
"""

from __future__ import annotations

import datetime
import os
import socket
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.utils.data import DataLoader, Dataset, DistributedSampler, TensorDataset

SECONDS = 6


class Hangs(Dataset):
    """A data set of which one sample never comes on one rank."""

    def __init__(self, rank: int) -> None:
        self.rank = rank

    def __len__(self) -> int:
        return 32

    def __getitem__(self, i: int) -> torch.Tensor:
        if self.rank == 1 and i == 17:
            time.sleep(5 * SECONDS)
        return torch.tensor([float(i)])


def averaged(model: nn.Module, world: int) -> None:
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)  # uneven-last-batch
        parameter.grad /= world


def other_op(rank: int, world: int) -> None:
    for step in range(6):
        value = torch.ones(3)
        if rank == 1 and step == 3:
            dist.broadcast(value, 0)  # other-op
        else:
            dist.all_reduce(value)


def other_shape(rank: int, world: int) -> None:
    for step in range(6):
        dist.all_reduce(torch.ones(4 if rank == 1 and step == 3 else 3))  # other-shape


def missing_rank(rank: int, world: int) -> None:
    for _ in range(4):
        dist.all_reduce(torch.ones(2))
    if rank != 1:
        dist.all_reduce(torch.ones(1))  # missing-rank
    time.sleep(3 * SECONDS if rank == 1 else 0)


def swapped_order(rank: int, world: int) -> None:
    dist.barrier()
    one, other = torch.ones(2), torch.ones(2)
    if rank == 0:
        dist.all_reduce(one)
        dist.broadcast(other, 0)
    else:
        dist.broadcast(other, 0)  # swapped-order
        dist.all_reduce(one)


def early_exit(rank: int, world: int) -> None:
    for step in range(6):
        if rank == 1 and step == 4:
            return
        dist.all_reduce(torch.ones(2))  # early-exit


def aborts(rank: int, world: int) -> None:
    for step in range(20):
        dist.all_reduce(torch.ones(8))
        if rank == 1 and step == 12:
            os.abort()  # aborts


def slow_rank(rank: int, world: int) -> None:
    for _ in range(12):
        if rank == 1:
            time.sleep(0.5)  # slow-rank
        dist.all_reduce(torch.ones(8))


def trained(rank: int, world: int, model: nn.Module, loader: DataLoader, epochs: int = 1) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        if isinstance(loader.sampler, DistributedSampler):
            loader.sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x).squeeze(1), y).backward()
            if not isinstance(model, nn.parallel.DistributedDataParallel):
                averaged(model, world)
            optimizer.step()


def rows(count: int = 64) -> TensorDataset:
    x = torch.randn(count, 4, generator=torch.Generator().manual_seed(0))
    return TensorDataset(x, x.sum(1))


def divided(data: TensorDataset) -> DataLoader:
    return DataLoader(data, batch_size=8, sampler=DistributedSampler(data))


def diverged_weights(rank: int, world: int) -> None:
    torch.manual_seed(rank)
    model = nn.Linear(4, 1)  # diverged-weights
    trained(rank, world, model, divided(rows()))


def same_sampler(rank: int, world: int) -> None:
    torch.manual_seed(0)
    loader = DataLoader(rows(), batch_size=8, shuffle=True)  # same-sampler
    trained(rank, world, nn.Linear(4, 1), loader)


def unused_on_one(rank: int, world: int) -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body, self.extra = nn.Linear(4, 4), nn.Linear(4, 4)

        def forward(self, x: torch.Tensor, extra: bool) -> torch.Tensor:
            return self.body(x) + self.extra(x) if extra else self.body(x)

    model = nn.parallel.DistributedDataParallel(Net())
    for _ in range(4):
        model(torch.ones(2, 4), rank != 1).sum().backward()  # unused-on-one


def loader_deadlock(rank: int, world: int) -> None:
    for batch in DataLoader(Hangs(rank), batch_size=4, num_workers=1):  # loader-deadlock
        dist.all_reduce(batch.sum())


def uneven_last_batch(rank: int, world: int) -> None:
    torch.manual_seed(0)
    data = rows(40 if rank == 0 else 32)
    trained(rank, world, nn.Linear(4, 1), DataLoader(data, batch_size=8))


def healthy_unused_on_purpose(rank: int, world: int) -> None:
    both = nn.ModuleList([nn.Linear(4, 1), nn.Linear(4, 1)])

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.heads = both

        def forward(self, x: torch.Tensor, head: int) -> torch.Tensor:
            return self.heads[head](x)

    model = nn.parallel.DistributedDataParallel(Net(), find_unused_parameters=True)
    for step in range(6):
        model(torch.randn(2, 4), step % 2).sum().backward()


def healthy_join(rank: int, world: int) -> None:
    model = nn.parallel.DistributedDataParallel(nn.Linear(4, 1))
    with model.join():
        for _ in range(5 + rank):
            model(torch.randn(2, 4)).sum().backward()


def healthy_rank_0_saves(rank: int, world: int) -> None:
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    trained(rank, world, model, divided(rows()), epochs=2)
    if rank == 0:
        print("saving", flush=True)
        torch.save(model.state_dict(), "weights.pt")
    dist.barrier()
    model.load_state_dict(torch.load("weights.pt"))


def healthy_own_seeds(rank: int, world: int) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.2), nn.Linear(8, 1))
    torch.manual_seed(100 + rank)
    trained(rank, world, model, divided(rows()), epochs=2)


PROGRAMS = {
    name.replace("_", "-"): globals()[name]
    for name in (
        "other_op",
        "other_shape",
        "missing_rank",
        "swapped_order",
        "early_exit",
        "aborts",
        "slow_rank",
        "diverged_weights",
        "same_sampler",
        "unused_on_one",
        "loader_deadlock",
        "uneven_last_batch",
        "healthy_unused_on_purpose",
        "healthy_join",
        "healthy_rank_0_saves",
        "healthy_own_seeds",
    )
}


def begin(rank: int, name: str, world: int, port: int) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world, timeout=datetime.timedelta(seconds=SECONDS))
    PROGRAMS[name](rank, world)
    dist.destroy_process_group()


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


if __name__ == "__main__":
    count = int(sys.argv[2])
    mp.start_processes(begin, args=(sys.argv[1], count, free_port()), nprocs=count, start_method="fork")
