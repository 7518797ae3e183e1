"""The workers that loaders of a sealed process do without: how many each was to have, and whether they were to stay."""

from __future__ import annotations

import weakref
from types import ModuleType
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """``num_workers`` and ``persistent_workers`` as the program gave them to a loader."""

    workers: int
    persistent: bool


_asked: weakref.WeakKeyDictionary[Any, Asked] = weakref.WeakKeyDictionary()


def without_workers(module: ModuleType) -> None:
    """A sealed process starts no others: its loaders draw in the process itself."""
    original = module.DataLoader.__init__

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        # num_workers is the sixth argument when it is given by position.
        workers = kwargs.pop("num_workers", args[5] if len(args) > 5 else 0)
        stay = kwargs.pop("persistent_workers", False)
        for name in ("prefetch_factor", "multiprocessing_context", "timeout"):
            kwargs.pop(name, None)
        original(self, *args[:5], num_workers=0, **kwargs)
        _asked[self] = Asked(workers if isinstance(workers, int) else 0, bool(stay))

    module.DataLoader.__init__ = init


def most() -> int:
    """The most workers that a loader of this sealed process was asked to start."""
    return max((asked.workers for asked in _asked.values()), default=0)


def asked_of(loader: Any) -> Asked:
    """What a loader was asked for, in a process that is sealed or not."""
    found = _asked.get(loader)
    return found if found is not None else Asked(loader.num_workers, loader.persistent_workers)
