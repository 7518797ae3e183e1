# known-difference: the recorder imports its own modules at the first step, through the import system in force
# journals: 1
"""The program replaces __import__ and adds finders of its own; it sees every import from then on."""
import builtins
import importlib
import sys

import torch

seen = []
original = builtins.__import__


def logging_import(name, globals=None, locals=None, fromlist=(), level=0):
    seen.append(name)
    return original(name, globals, locals, fromlist, level)


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        seen.append("find " + name)


torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
data = iter(torch.randn(4, 8, 4))
builtins.__import__ = logging_import
sys.meta_path.insert(0, Finder)
for step in range(4):
    loss = net(next(data)).pow(2).mean() * (float("nan") if step == 2 else 1.0)
    optimizer.zero_grad()
    (loss * 2).backward()
    optimizer.step()
    import json as again
print([name for name in seen if "torch" not in name])
print(importlib.import_module("json") is again, seen.count("json"))
