"""Every rank of a DDP training reads the same data.

Seen: a DDP model trained from a DataLoader whose sampler knows no ranks, over a whole dataset.
Refuted by: a sampler of one's own, a subset, a stream, a seed or a dataset that depends on the rank.
"""

from __future__ import annotations

from typing import Any

from torch.utils import data
from torch.utils.data import sampler

from firstcause.check.dry.child import ranks
from firstcause.check.dry.child.session import NOWHERE
from firstcause.check.dry.child.watcher import Watcher

PLAIN = (sampler.RandomSampler, sampler.SequentialSampler)


class SamplerMissing(Watcher):
    SLUG = "sampler-missing"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.loader: Any = None
        self.place = NOWHERE

    def loaded(self, loader: Any) -> None:
        self.loader, self.place = loader, self.session.place()

    def step(self, optimizer: Any) -> None:
        loader, self.loader = self.loader, None
        if (
            loader is None
            or self.session.world < 2
            or not any(isinstance(w, ranks.Wrapped) for w in ranks.wrapped)
        ):
            return
        whole = type(loader.sampler) in PLAIN and type(loader.batch_sampler) is sampler.BatchSampler
        if not whole or isinstance(loader.dataset, (data.IterableDataset, data.Subset)) or self._knows_rank():
            return
        text = "each rank of the DDP training reads all of the data: the loader has no DistributedSampler"
        self.session.find(self.SLUG, "critical", text, self.place)

    def _knows_rank(self) -> bool:
        """Whether a line of the program seeds, splits or samples by the rank."""
        import linecache
        import sys

        words = ("seed", "shard", "split", "Subset", "Sampler", "::", "num_replicas")
        files = {getattr(m, "__file__", None) or "" for m in list(sys.modules.values())}
        for file in filter(self.session.owns, files):
            for line in linecache.getlines(file):
                if ("rank" in line.lower() or "world_size" in line) and any(w in line for w in words):
                    return True
        return False
