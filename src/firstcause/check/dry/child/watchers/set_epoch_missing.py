"""A DistributedSampler that gives the same order in every epoch.

Seen: a shuffling DistributedSampler is iterated for training a second time, and ``set_epoch`` was never called.
Refuted by: ``shuffle=False``, an epoch that was set.
"""

from __future__ import annotations

from typing import Any

from torch.utils.data.distributed import DistributedSampler

from firstcause.check.dry.child.watcher import Watcher


class SetEpochMissing(Watcher):
    SLUG = "sampler-set-epoch-missing"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.trained: dict[int, int] = {}
        self.now: Any = None

    def loaded(self, loader: Any) -> None:
        self.now = (
            loader if isinstance(loader.sampler, DistributedSampler) and loader.sampler.shuffle else None
        )
        if self.now is None or getattr(loader.sampler, "fc_epoch_set", False):
            return
        if self.trained.get(id(loader)):
            text = (
                "the DistributedSampler is iterated again without set_epoch(epoch): every epoch has the same "
                "order"
            )
            self.session.find(self.SLUG, "critical", text)

    def step(self, optimizer: Any) -> None:
        if self.now is not None:
            self.trained[id(self.now)] = 1
            if getattr(self.now.sampler, "fc_epoch_set", False):
                self.session.fine(self.SLUG, self.session.place(), *(x.key for x in self.session.loops))
