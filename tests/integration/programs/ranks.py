"""One program for torchrun, healthy or faulty by its first word; the line that is to be named ends in the word."""

import datetime
import hashlib
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

kind = sys.argv[1]
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=8))
rank, world = dist.get_rank(), dist.get_world_size()


def rows(step, count=8):
    generator = torch.Generator().manual_seed(100 * step + rank)
    x = torch.randn(count, 16, generator=generator)
    return x, x.sum(1, keepdim=True)


def network():
    return nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 1))


def ddp_with_no_sync():
    torch.manual_seed(0)
    model = DistributedDataParallel(network())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(8):
        x, y = rows(2 * step)
        with model.no_sync():
            nn.functional.mse_loss(model(x), y).backward()
        x, y = rows(2 * step + 1)
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return model


def fsdp(bad_step=-1):
    torch.manual_seed(0)
    model = network()
    for layer in (model[0], model[2]):
        fully_shard(layer)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(8):
        x, y = rows(step)
        score = model(x)
        loss = nn.functional.mse_loss(score, y)
        if step == bad_step and rank == 1:
            loss = loss + (score - score.detach()).abs().log().mean()  # fsdp_with_log_of_zero
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def fsdp_with_log_of_zero():
    return fsdp(bad_step=5)


def branch_on_one_rank():
    torch.manual_seed(0)
    model = DistributedDataParallel(network())
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    for step in range(8):
        x, y = rows(step)
        loss = nn.functional.mse_loss(model(x), y)
        if step == 5 and rank == 0:
            dist.all_reduce(loss.detach().clone())  # branch_on_one_rank
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def weights_of_their_own():
    torch.manual_seed(rank)
    model = network()  # weights_of_their_own
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    for step in range(8):
        x, y = rows(step)
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
            parameter.grad /= world
        optimizer.step()
    return model


model = globals()[kind]()
bits = hashlib.sha256()
for parameter in model.parameters():
    held = parameter.to_local() if hasattr(parameter, "to_local") else parameter
    bits.update(held.detach().contiguous().numpy().tobytes())
with open(f"bits-{rank}", "w") as file:
    file.write(bits.hexdigest())
dist.destroy_process_group()
