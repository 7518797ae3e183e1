"""DataLoaders in this process, for as many batches as it takes to see two steps."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.utils import data
from torch.utils.data import _utils, distributed, sampler

from firstcause.check.dry.child import due
from firstcause.check.dry.child.loops import GATHERED, PASSES, Loop, length

if TYPE_CHECKING:
    from firstcause.check.dry.child.session import Session

# A pass that only computes is cheap enough to be made whole up to here.
QUIET_PASS = 40
LARGEST = 2_000_000
# Samples read in one pass.
FEW = 32


def install(session: Session) -> None:
    for cls in (sampler.RandomSampler, distributed.DistributedSampler):
        cls.__iter__ = _real_indices(cls.__iter__)
    sampler.WeightedRandomSampler.__iter__ = lambda self: iter(
        i % len(self.weights) for i in range(self.num_samples)
    )
    sampler.SubsetRandomSampler.__iter__ = lambda self: iter(int(i) for i in list(self.indices))
    set_epoch = distributed.DistributedSampler.set_epoch

    def told(self: Any, epoch: int) -> None:
        self.fc_epoch_set = True
        set_epoch(self, epoch)

    distributed.DistributedSampler.set_epoch = told
    data.DataLoader.__iter__ = lambda self: _batches(session, self)


def _real_indices(original: Any) -> Any:
    def iterate(self: Any) -> Iterator[int]:
        with unset_fake_temporarily():
            if len(self) > LARGEST:
                return iter(range(LARGEST))
            return iter([int(i) for i in original(self)])

    return iterate


def _batches(session: Session, loader: Any) -> Iterator[Any]:
    session.emit("loaded", loader)
    fetcher = _utils.fetch._MapDatasetFetcher
    if loader._dataset_kind != data.dataloader._DatasetKind.Map:
        fetcher = _utils.fetch._IterableDatasetFetcher
    samples = _Few(loader.dataset) if _is_read_by_item(loader) else loader.dataset
    fetch = fetcher(samples, loader._auto_collation, loader.collate_fn, loader.drop_last)
    source = Loop(session, ("", 0), 0, None)
    within = session.loop()
    if within is not None and within.planned is None:
        within.planned = length(loader)
    for number, index in enumerate(loader._index_sampler, 1):
        try:
            batch = fetch.fetch(index)
        except StopIteration:
            return
        session.batches += 1
        yield batch
        source.passes = number
        share, patience = source.share(), session.patience
        trained = source.steps >= 2 * patience and number >= PASSES * patience
        trained = trained or (source.steps >= 2 and share > 0.06)
        gathered = source.backwards and not source.steps and (number >= GATHERED or share > 0.25)
        looked = not source.backwards and number >= PASSES * patience
        looked = looked and (number >= QUIET_PASS * patience or share > 0.02)
        # Who takes batches one by one counts on the next one.
        is_enough = (trained or gathered or looked) and not session.owns(sys._getframe(1).f_code.co_filename)
        if is_enough and (within is None or not due.another(session, within)):
            session.was_cut = True
            return


def _is_read_by_item(loader: Any) -> bool:
    map_style = loader._dataset_kind == data.dataloader._DatasetKind.Map
    return bool(map_style and loader._auto_collation and not hasattr(loader.dataset, "__getitems__"))


class _Few:
    """A dataset of which a few samples are read, and stand for the others."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset
        self.samples: list[Any] = []

    def __getitem__(self, index: Any) -> Any:
        if len(self.samples) < FEW:
            self.samples.append(self.dataset[index])
            return self.samples[-1]
        self.samples.append(self.samples.pop(0))
        return self.samples[-1]
