# known-difference: the recorder calls functions of the standard library by the names that the program replaced
# journals: 1
"""The program replaces functions of the standard library and counts who calls them."""
import builtins
import io
import json
import os
import random
import time
from collections import Counter

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
calls = Counter()
data = iter(torch.randn(5, 8, 4))


def counted(module, name):
    original = getattr(module, name)

    def replacement(*args, **kwargs):
        calls[f"{module.__name__}.{name}"] += 1
        return original(*args, **kwargs)

    setattr(module, name, replacement)


for module, names in [
    (builtins, "open len isinstance getattr repr sorted id"), (io, "open"), (json, "dumps dump loads"), (random, "random getstate"),
    (os, "write open fork getpid close fstat makedirs replace fsync waitpid _exit kill"), (os.path, "exists join abspath isfile"),
    (time, "time perf_counter monotonic sleep time_ns perf_counter_ns"),
]:
    for name in names.split():
        counted(module, name)
seen = []
for step in range(5):
    before = dict(calls)
    loss = net(next(data)).pow(2).mean()
    optimizer.zero_grad()
    (loss * 2).backward()
    optimizer.step()
    seen.append(sorted((k, n - before.get(k, 0)) for k, n in list(calls.items()) if n > before.get(k, 0)))
    print(step)
print(*seen, sep="\n")
