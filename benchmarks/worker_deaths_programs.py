"""Trainings whose loader's worker dies at one sample: six deaths, by fork and by spawn, of three kinds of datasets."""

from __future__ import annotations

import itertools

KINDS = {
    "exit": "sys.exit(3)",
    "_exit": "os._exit(3)",
    "segfault": "ctypes.string_at(0)",
    "SIGKILL": "os.kill(os.getpid(), signal.SIGKILL)",
    "bus error": "past_the_end()",
    "hang": "time.sleep(3600)",
}
METHODS = ("fork", "spawn")
DATASETS = ("map", "iterable", "batched")
SAMPLE = 37

PROGRAM = """import ctypes, mmap, os, signal, sys, tempfile, time
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info


def past_the_end():
    with tempfile.TemporaryFile() as file:
        file.write(b"x" * 65536)
        file.flush()
        view = mmap.mmap(file.fileno(), 65536)
        file.truncate(0)
        return view[40000]


def row(i):
    if i == {sample}:
        {death}
    return torch.full((4,), float(i % 7))


class Map(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        return row(i)


class Batched(Map):
    def __getitems__(self, indices):
        return [row(i) for i in indices]


class Iterable(IterableDataset):
    def __iter__(self):
        worker = get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        for i in range(first, 64, step):
            yield row(i)


def main():
    torch.manual_seed(0)
    loader = DataLoader({dataset}(), batch_size=4, num_workers=2, multiprocessing_context="{method}", timeout={timeout})
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for rows in loader:
        loss = net(rows).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""


def programs() -> dict[str, str]:
    """Each program by the name of its row."""
    found = {}
    for kind, method, dataset in itertools.product(KINDS, METHODS, DATASETS):
        timeout = 8 if kind == "hang" else 0
        name = f"{kind}, {method}, {dataset}"
        found[name] = PROGRAM.format(
            sample=SAMPLE, death=KINDS[kind], dataset=dataset.capitalize(), method=method, timeout=timeout
        )
    return found
