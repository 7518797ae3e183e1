"""A world of two of which this is the first: collectives give back what they were given, DDP is the module itself."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
import torch.multiprocessing
from torch import nn
from torch.utils._pytree import tree_map_only

from firstcause.check.dry.child.names import NAME

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
    # Its module has a function's name, and torch.nn.parallel.data_parallel is that function.
    for owner in (nn, nn.parallel, sys.modules[Replicated.__module__]):
        setattr(owner, "DataParallel", Replicated)  # noqa: B010 - to mypy it is a class that cannot change


def _first_rank(fn: Any, args: Any = (), nprocs: int = 1, *rest: Any, **options: Any) -> None:
    """In the place of ``torch.multiprocessing.spawn``: the first rank alone, here."""
    fn(0, *args)


class _Work:
    def wait(self, *args: Any) -> None:
        return None


class Wrapped(nn.Module):
    """In the place of DistributedDataParallel."""

    def __init__(self, module: Any, device_ids: Any = None, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.module = module
        self.fc_moves = bool(device_ids)
        self.find_unused_parameters = kwargs.get("find_unused_parameters", False)
        self.static_graph = kwargs.get("static_graph", False)
        self.require_backward_grad_sync = True
        self.fc_place = session_place()
        wrapped.append(self)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        # Who is given devices brings the tensors there, from within tuples, lists and dicts too.
        if self.fc_moves and _is_on_device(self.module):
            args, kwargs = tree_map_only(torch.Tensor, _moved, (args, kwargs))
        return self.module(*args, **kwargs)

    def no_sync(self) -> Any:
        import contextlib

        return contextlib.nullcontext()

    def _set_static_graph(self) -> None:
        self.static_graph = True


class Replicated(Wrapped):
    """In the place of DataParallel, which asks no parameter for a gradient, and takes all devices where none is named."""

    def __init__(self, module: Any, device_ids: Any = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(module, device_ids)
        self.find_unused_parameters = True
        self.fc_moves = device_ids is None or bool(device_ids)


# A whole module that is saved names its class.
Wrapped.__module__, Wrapped.__qualname__ = "torch.nn.parallel.distributed", "DistributedDataParallel"
Replicated.__module__, Replicated.__qualname__ = "torch.nn.parallel.data_parallel", "DataParallel"
Wrapped.__name__, Replicated.__name__ = Wrapped.__qualname__, Replicated.__qualname__


def _is_on_device(module: nn.Module) -> bool:
    """Whether a module was moved: on a machine without an accelerator the wrappers leave everything where it is."""
    tensors = (*module.parameters(), *module.buffers())
    return any(tensor.device.type == NAME for tensor in tensors)


def _moved(tensor: Any) -> Any:
    return tensor if tensor.device.type == NAME else tensor.to(torch.device(NAME, 0))
