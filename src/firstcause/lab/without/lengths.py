"""Batches of varying sizes switched off: a batch of another form than the first one is replaced by that one."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves
from torch.utils.data import dataloader


def install(level: str, met: Callable[[], None]) -> None:
    kind: Any = dataloader._BaseDataLoaderIter
    give = kind.__next__
    # By data set: its first batch. The data set is held, so that no other one gets its identity.
    first: dict[int, tuple[Any, Any]] = {}

    def following(iterator: Any) -> Any:
        batch = give(iterator)
        dataset = iterator._dataset
        if id(dataset) not in first:
            first[id(dataset)] = (dataset, copy.deepcopy(batch))
        _, known = first[id(dataset)]
        if _form(batch) == _form(known):
            return batch
        met()
        return copy.deepcopy(known) if level else batch

    kind.__next__ = following


def _form(batch: Any) -> list[tuple[int, ...]]:
    return [tuple(x.shape) for x in tree_leaves(batch) if isinstance(x, torch.Tensor)]
