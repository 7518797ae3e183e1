"""A world of two of which this is the first: collectives give back what they were given, DDP is the module itself."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
import torch.multiprocessing
from torch import nn

if TYPE_CHECKING:
    from firstcause.check.dry.child.session import Session

WORLD = 2
GIVEN = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": str(WORLD), "LOCAL_WORLD_SIZE": str(WORLD)}
ADDRESS = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}
# get() and `in` ask whether there are ranks; [] says that there are.
QUIET = ("get", "__contains__", "setdefault", "pop")
wrapped: list[Any] = []
# Where the program is; told by whoever knows.
session_place: Any = tuple


def install(session: Session, launched: bool) -> None:
    """``launched`` is whether the command starts ranks, such as torchrun: else only who insists gets a rank."""
    global session_place
    session_place = session.place
    if launched:
        os.environ.update(GIVEN | ADDRESS)
    look = os._Environ.__getitem__

    def get(self: Any, key: str) -> Any:
        try:
            return look(self, key)
        except KeyError:
            asked = sys._getframe(1).f_code.co_name
            if self is os.environ and key in GIVEN | ADDRESS and asked not in QUIET:
                os.environ.update(GIVEN | ADDRESS)
                return look(self, key)
            raise

    os._Environ.__getitem__ = get  # type: ignore[assignment,method-assign]

    def begin(*args: Any, **kwargs: Any) -> None:
        session.world = WORLD

    def end(*args: Any, **kwargs: Any) -> None:
        session.world = 1

    def same(*args: Any, **kwargs: Any) -> Any:
        return _Work() if kwargs.get("async_op") else None

    def gather(tensors: Any, tensor: Any, *args: Any, **kwargs: Any) -> Any:
        for i in range(len(tensors)):
            tensors[i] = tensor.detach() if isinstance(tensor, torch.Tensor) else tensor

    stubs = {
        "is_available": lambda: True,
        "init_process_group": begin,
        "destroy_process_group": end,
        "is_initialized": lambda: session.world > 1,
        "get_rank": lambda *args: 0,
        "get_world_size": lambda *args: session.world,
        "get_backend": lambda *args: "nccl",
        "is_nccl_available": lambda: True,
        "barrier": same,
        "all_gather": gather,
        "all_gather_object": gather,
        "new_group": lambda *args, **kwargs: None,
        "monitored_barrier": same,
    }
    for name in (
        "all_reduce",
        "broadcast",
        "reduce",
        "broadcast_object_list",
        "reduce_scatter",
        "scatter",
        "send",
        "recv",
    ):
        stubs[name] = same
    for name, stub in stubs.items():
        setattr(dist, name, stub)
    for starter in ("spawn", "start_processes"):
        setattr(torch.multiprocessing, starter, _first_rank)
    for module in (nn.parallel, torch.nn.parallel.distributed):
        module.DistributedDataParallel = Wrapped
    nn.DataParallel = nn.parallel.DataParallel = Replicated


def _first_rank(fn: Any, args: Any = (), nprocs: int = 1, *rest: Any, **options: Any) -> None:
    """In the place of ``torch.multiprocessing.spawn``: the first rank alone, here."""
    fn(0, *args)


class _Work:
    def wait(self, *args: Any) -> None:
        return None


class Wrapped(nn.Module):
    """In the place of DistributedDataParallel."""

    def __init__(self, module: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.module = module
        self.find_unused_parameters = kwargs.get("find_unused_parameters", False)
        self.static_graph = kwargs.get("static_graph", False)
        self.require_backward_grad_sync = True
        self.fc_place = session_place()
        wrapped.append(self)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def no_sync(self) -> Any:
        import contextlib

        return contextlib.nullcontext()

    def _set_static_graph(self) -> None:
        self.static_graph = True


class Replicated(Wrapped):
    """In the place of DataParallel, which asks no parameter for a gradient."""

    def __init__(self, module: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(module)
        self.find_unused_parameters = True
