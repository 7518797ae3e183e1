"""What a program asked of its loaders: workers, start method and place, which a sealed process does not give it."""

from __future__ import annotations

import inspect
import multiprocessing
import sys
from dataclasses import dataclass
from typing import Any

from torch.utils.data import IterableDataset, dataloader

from firstcause.lab import places

Facts = dict[str, Any]


@dataclass
class Asked:
    """One loader, as the program made it."""

    loader: Any
    workers: int = 0
    method: str = ""
    timeout: float = 0.0
    site: Facts | None = None
    begun: int = 0

    @property
    def streams(self) -> bool:
        return isinstance(self.loader.dataset, IterableDataset)

    def fetch(self, index: Any) -> Any:
        """One sample, in the way in which the loader's fetcher asks for it."""
        dataset = self.loader.dataset
        many = getattr(dataset, "__getitems__", None)
        if self.loader._auto_collation and many:
            (sample,) = many([index])
            return sample
        return dataset[index]

    def facts(self) -> Facts:
        return {
            "site": self.site,
            "workers": self.workers,
            "method": self.method,
            "batch_size": self.loader.batch_size,
            "streams": self.streams,
            "dataset": type(self.loader.dataset).__name__,
            "own_collate": places.is_user_module(
                sys.modules.get(getattr(self.loader.collate_fn, "__module__", "") or "")
            ),
        }


class Loaders:
    """Every DataLoader that is made from now on; ``of`` finds one also where a library has made it anew around its dataset."""

    def __init__(self) -> None:
        self.made: list[Asked] = []
        kind: Any = dataloader.DataLoader
        without_workers, original = kind.__init__, inspect.signature(_plain(kind.__init__))

        def init(loader: Any, *args: Any, **kwargs: Any) -> None:
            without_workers(loader, *args, **dict(kwargs))
            given = original.bind(loader, *args, **kwargs).arguments
            site = places.of_frame(sys._getframe(1), columns=True)
            workers = int(given.get("num_workers", 0) or 0)
            earlier = self.of_dataset(loader) if not workers else None
            if earlier is not None and site is None:
                workers, site = earlier.workers, earlier.site
            method = _method(given.get("multiprocessing_context")) if workers else ""
            self.made.append(Asked(loader, workers, method, float(given.get("timeout", 0) or 0), site))

        kind.__init__ = init

    def of(self, loader: Any) -> Asked | None:
        return next((a for a in self.made if a.loader is loader), None)

    def of_dataset(self, loader: Any) -> Asked | None:
        return next((a for a in self.made if a.loader.dataset is loader.dataset), None)


def _plain(function: Any) -> Any:
    """torch's own ``__init__`` behind the one that takes the workers away."""
    cells = {
        n: c.cell_contents
        for n, c in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    }
    return cells.get("original", function)


def _method(context: Any) -> str:
    if isinstance(context, str):
        return context
    return str((context or multiprocessing).get_start_method())
