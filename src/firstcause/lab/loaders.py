"""Which DataLoader gave the batch that a step is taken on, and how often it was begun. Sealed child only."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch.utils.data import BatchSampler, SequentialSampler, dataloader

from firstcause.lab import places


@dataclass
class Course:
    """One loader: how often it was begun, whether steps were taken on its batches, and the line that asks for them."""

    loader: Any
    number: int
    begun: int = 0
    batches: int = 0
    trained: int = 0
    site: dict[str, Any] | None = None

    @property
    def is_sequential(self) -> bool:
        """Whether samples come as they are stored: beside batches of the program's own making, the sampler is idle."""
        batches = self.loader.batch_sampler
        own = type(batches) in (BatchSampler, type(None))
        return own and isinstance(getattr(batches, "sampler", self.loader.sampler), SequentialSampler)


class Loaders:
    """Follows every DataLoader that is begun from now on.

    ``beginning`` is told of each time, before it; ``giving`` of each batch.
    """

    def __init__(
        self,
        beginning: Callable[[Course], None] | None = None,
        giving: Callable[[Any], None] | None = None,
    ) -> None:
        self.courses: dict[int, Course] = {}
        self.current: Course | None = None
        kind: Any = dataloader.DataLoader
        begin, following = kind.__iter__, dataloader._BaseDataLoaderIter
        give: Any = following.__next__
        iterators: dict[int, Course] = {}

        def begun(loader: Any) -> Any:
            course = self.courses.setdefault(id(loader), Course(loader, len(self.courses)))
            course.begun += 1
            self.current = course
            if beginning is not None:
                beginning(course)
            iterator = begin(loader)
            iterators[id(iterator)] = course
            return iterator

        def given(iterator: Any) -> Any:
            course = iterators.get(id(iterator))
            batch = give(iterator)
            if giving is not None:
                giving(batch)
            if course is not None:
                self.current = course
                course.batches += 1
                course.site = course.site or places.of_frame(sys._getframe(1))
            return batch

        kind.__iter__, following.__next__ = begun, given

    def stepped(self) -> None:
        """A step was taken: on a batch of the loader that gave the last one."""
        if self.current is not None:
            self.current.trained += 1

    def trained(self) -> list[Course]:
        """The loaders whose batches were trained on, most of them: every other one looks on."""
        return [c for c in self.courses.values() if 2 * c.trained >= c.batches > 0]
