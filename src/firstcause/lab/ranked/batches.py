"""What each pass over a loader gave to this rank: how many batches, which samples, in which order."""

from __future__ import annotations

import sys
import zlib
from array import array
from types import ModuleType
from typing import Any

from firstcause.lab import places
from firstcause.lab.ranked import Watcher, around
from firstcause.lab.ranked.fingerprint import fingerprint

MOST_PASSES = 60
FIRST = 8


class Batches(Watcher):
    """One entry a pass over a ``DataLoader``, and the steps of the optimizer that were taken within it."""

    PATCHES = ("torch.utils.data.dataloader",)

    def __init__(self) -> None:
        self.passes: list[dict[str, Any]] = []
        self.loaders: list[Any] = []
        self.steps = 0

    def ranked(self) -> None:
        self.passes = []

    def patch(self, module: ModuleType) -> None:
        watch = self

        def init(original: Any) -> Any:
            def __init__(loader: Any, *args: Any, **kwargs: Any) -> None:
                # A lambda of the program must not be asked to travel: the mark is plain.
                loader.__dict__["_fc_made"] = places.of_frame(sys._getframe(1), columns=True)
                original(loader, *args, **kwargs)

            return __init__

        def begin(original: Any) -> Any:
            def __init__(iterator: Any, loader: Any, *args: Any, **kwargs: Any) -> None:
                iterator._fc_pass = watch.begun(loader, places.of_frame(sys._getframe(1)))
                original(iterator, loader, *args, **kwargs)

            return __init__

        def index(original: Any) -> Any:
            def _next_index(iterator: Any) -> Any:
                found = original(iterator)
                watch.indexed(iterator._fc_pass, found)
                return found

            return _next_index

        def following(original: Any) -> Any:
            def __next__(iterator: Any) -> Any:
                try:
                    batch = original(iterator)
                except StopIteration:
                    iterator._fc_pass["ended"] = True
                    raise
                iterator._fc_pass["given"] += 1
                return batch

            return __next__

        around(module.DataLoader, "__init__", init)
        around(module._BaseDataLoaderIter, "__init__", begin)
        around(module._BaseDataLoaderIter, "_next_index", index)
        around(module._BaseDataLoaderIter, "__next__", following)

    def begun(self, loader: Any, site: dict[str, Any] | None) -> dict[str, Any]:
        number = next((i for i, known in enumerate(self.loaders) if known is loader), None)
        if number is None:
            number = len(self.loaders)
            self.loaders.append(loader)
        sampler = _sampler(loader)
        dataset, base = _base(loader.dataset)
        facts = {
            "loader": number,
            "made": loader.__dict__.get("_fc_made"),
            "site": site,
            "sampler": type(sampler).__name__,
            "reseeded": hasattr(sampler, "set_epoch"),
            "shuffles": bool(getattr(sampler, "shuffle", "Random" in type(sampler).__name__)),
            "samples": _length(dataset),
            "batch_size": loader.batch_size,
            "length": _length(loader),
            "given": 0,
            "ended": False,
            "steps": 0,
            "order": array("q"),
            "base": base,
            "fingerprint": fingerprint(dataset),
        }
        if len(self.passes) < MOST_PASSES:
            self.passes.append(facts)
        return facts

    def indexed(self, facts: dict[str, Any], found: Any) -> None:
        base = facts["base"]
        flat = found if isinstance(found, (list, tuple)) else [found]
        if all(isinstance(i, int) for i in flat):
            facts["order"].extend(base[i] if base is not None else i for i in flat)

    def stepped(self, optimizer: Any) -> None:
        self.steps += 1
        running = [p for p in self.passes if not p["ended"]]
        if running:
            # The innermost loop is the one that began last.
            running[-1]["steps"] += 1

    def facts(self) -> Any:
        return {"steps": self.steps, "passes": [_plain(p) for p in self.passes]}


def _plain(facts: dict[str, Any]) -> dict[str, Any]:
    order = facts["order"]
    return {k: v for k, v in facts.items() if k not in ("order", "base")} | {
        "indices": len(order),
        "distinct": len(set(order)),
        "first": list(order[:FIRST]),
        "in_order": zlib.crc32(order.tobytes()),
        "as_set": zlib.crc32(array("q", sorted(set(order))).tobytes()),
    }


def _sampler(loader: Any) -> Any:
    """The innermost sampler: batch samplers and wrappers hold it."""
    found = loader.sampler if loader.sampler is not None else loader.batch_sampler
    own = getattr(loader, "batch_sampler", None)
    while own is not None and not hasattr(own, "set_epoch") and getattr(own, "sampler", None) is not None:
        own = own.sampler
    return own if own is not None and hasattr(own, "set_epoch") else found


def _base(dataset: Any) -> tuple[Any, list[int] | None]:
    """The dataset beneath subsets, and the numbers that its samples have there."""
    indices: list[int] | None = None
    while type(dataset).__name__ == "Subset" and hasattr(dataset, "indices"):
        own = [int(i) for i in dataset.indices]
        indices = own if indices is None else [own[i] for i in indices]
        dataset = dataset.dataset
    return dataset, indices


def _length(held: Any) -> int | None:
    try:
        return len(held)
    except TypeError:
        # An iterable dataset tells no length.
        return None
