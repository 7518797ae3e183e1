"""A process group with a single member, in a sealed process: it talks to nobody, and yet opens a port where it begins.

PyTorch's own fake process group takes its place, whose collectives give a single member what it put in.
"""

from __future__ import annotations

import inspect
import os
from types import ModuleType
from typing import Any


def lead(module: ModuleType) -> None:
    """Make groups of one fake ones; what asks for more members is refused its connections, as ever."""
    begin: Any = module.__dict__["init_process_group"]
    group: Any = module.__dict__["new_group"]
    signature = inspect.signature(begin)

    def init_process_group(*args: Any, **kwargs: Any) -> Any:
        asked = signature.bind(*args, **kwargs).arguments
        if _members(asked) != 1:
            return begin(*args, **kwargs)
        # It registers the backend.
        from torch.testing._internal.distributed import fake_pg

        module.__dict__["new_group"] = new_group
        return begin(backend="fake", store=fake_pg.FakeStore(), rank=0, world_size=1)

    def new_group(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("backend", None)
        return group(*args[:2], None, *args[3:], **kwargs)

    module.__dict__["init_process_group"] = init_process_group


def _members(asked: dict[str, Any]) -> int:
    """How many members the group is to have: as it was called, else as the process was told."""
    given = asked.get("world_size", -1)
    told = os.environ.get("WORLD_SIZE", "")
    return int(given) if given > 0 else int(told) if told.isdigit() else 0
