"""DistributedDataParallel switched off: each rank trains the module itself, and gradients are not averaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn import parallel
from torch.nn.parallel import distributed


class Bare(torch.nn.Module):
    """A module under the name that DistributedDataParallel gives it, and nothing besides."""

    def __init__(self, module: torch.nn.Module, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.module = module

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        yield

    @contextmanager
    def join(self, *args: Any, **kwargs: Any) -> Iterator[None]:
        yield

    def register_comm_hook(self, *args: Any, **kwargs: Any) -> None:
        """There is nothing to communicate."""


def install(level: str, met: Callable[[], None]) -> None:
    if not level:
        plain = distributed.DistributedDataParallel.__init__

        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            met()
            plain(self, *args, **kwargs)

        distributed.DistributedDataParallel.__init__ = init
        return
    for place in (distributed, parallel):
        place.DistributedDataParallel = Bare
