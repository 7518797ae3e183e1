"""One rank of several, replayed alone: how it was started, and a group in which the other ranks are silent.

PyTorch's own fake process group takes the place of the real one: no collective moves a value, so what a rank computes up
to its first collective of the step is what it computed then. Its loss tells whether that is so.
"""

from __future__ import annotations

import functools
import os
import sys
from types import ModuleType
from typing import Any

ALONE = "FIRSTCAUSE_ALONE"
# What torchrun and its like tell a process of its place.
VARIABLES = (
    *("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE"),
    *(
        "ROLE_RANK",
        "ROLE_WORLD_SIZE",
        "NODE_RANK",
        "MASTER_ADDR",
        "MASTER_PORT",
        "ACCELERATE_MIXED_PRECISION",
    ),
)


# What a step takes from other ranks by; a fake group gives it nothing of theirs.
COLLECTIVES = (
    *(
        "all_gather",
        "all_gather_into_tensor",
        "all_gather_object",
        "all_reduce",
        "all_to_all",
        "all_to_all_single",
    ),
    *("broadcast", "broadcast_object_list", "gather", "recv", "irecv", "reduce", "reduce_scatter", "scatter"),
    *("reduce_scatter_tensor", "_all_gather_base", "_reduce_scatter_base", "batch_isend_irecv"),
)
# The collectives that the program has called, by name, in a replay of one rank.
calls: list[str] = []


def recorded() -> dict[str, Any]:
    """The command and the variables of this rank, for the facts of a failure; empty where it is the only process."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return {}
    command = list(sys.orig_argv)
    if distributed.get_world_size() < 2 or any("multiprocessing" in word for word in command):
        # A spawned process is no command: what it runs came to it through a pipe.
        return {}
    variables = {n: os.environ[n] for n in VARIABLES if n in os.environ}
    own = {"RANK": str(distributed.get_rank()), "WORLD_SIZE": str(distributed.get_world_size())}
    return {"alone": {"command": command, "variables": variables | own}}


def lead(module: ModuleType) -> None:
    """Make every process group of a sealed process a fake one of the recorded size."""
    begin: Any = module.__dict__["init_process_group"]
    group: Any = module.__dict__["new_group"]

    def init_process_group(*args: Any, **kwargs: Any) -> Any:
        # It registers the backend.
        from torch.testing._internal.distributed import fake_pg

        rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        return begin(backend="fake", store=fake_pg.FakeStore(), rank=rank, world_size=world)

    def new_group(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("backend", None)
        return group(*args[:2], None, *args[3:], **kwargs)

    module.__dict__["init_process_group"], module.__dict__["new_group"] = init_process_group, new_group
    for name in COLLECTIVES:
        if name in module.__dict__:
            module.__dict__[name] = _noted(module.__dict__[name])


def _noted(collective: Any) -> Any:
    @functools.wraps(collective)
    def noted(*args: Any, **kwargs: Any) -> Any:
        calls.append(collective.__name__)
        return collective(*args, **kwargs)

    return noted


def without_reducing(module: ModuleType) -> None:
    """DDP's reducer asks a collective for its result, and a fake one has none: each backward is as within ``no_sync``."""
    original = module.DistributedDataParallel.__init__

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        self.require_backward_grad_sync = False

    module.DistributedDataParallel.__init__ = init


def is_alone() -> bool:
    return ALONE in os.environ
