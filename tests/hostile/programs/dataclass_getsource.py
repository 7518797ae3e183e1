# journals: 1
"""Dataclasses in __main__, and the script's own source as inspect and linecache see it."""
import dataclasses
import hashlib
import inspect
import linecache
import sys
import typing

import torch


@dataclasses.dataclass
class Config:
    lr: float = 0.05
    steps: "typing.Optional[int]" = 3


def train(config: Config):
    """Trains."""
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=config.lr)
    for step in range(config.steps):
        loss = net(torch.randn(8, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return repr(loss.item())


torch.manual_seed(0)
print(train(Config()), dataclasses.asdict(Config()), typing.get_type_hints(Config))
print(inspect.getsource(train), inspect.getsource(Config), inspect.signature(train), inspect.getdoc(train))
print(train.__code__.co_firstlineno, train.__code__.co_filename == __file__, inspect.getsourcelines(train)[1])
print(hashlib.sha256(inspect.getsource(sys.modules["__main__"]).encode()).hexdigest())
print(len(linecache.getlines(__file__)), inspect.getfile(train) == __file__, inspect.getmodule(train).__name__)
print(train.__code__.co_varnames, train.__code__.co_freevars, train.__code__.co_flags, train.__code__.co_argcount)
