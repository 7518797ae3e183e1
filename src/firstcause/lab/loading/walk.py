"""One epoch of a loader, asked sample by sample as its workers would ask: what raises, and what does not go into a batch."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

from torch.utils.data._utils import worker as torch_worker

from firstcause.lab.loading.asked import Asked
from firstcause.lab.loading.child import Facts, Tell
from firstcause.lab.loading.forms import alike, form, identity, small
from firstcause.lab.loading.frames import described
from firstcause.lab.loading.workers import Draws, base_seed

FORMS, WRONG = 400, 20
Place = tuple[int, int]


class Walk:
    """Tells ``at`` before each sample and each batch, ``raised`` and ``collate`` where one fails, ``forms`` at the end.

    ``skip`` are places (batch, place in it) that ended an earlier walk; ``worker`` is the one to be, of a stream.
    """

    def __init__(
        self, asked: Asked, tell: Tell, skip: frozenset[Place] = frozenset(), worker: int = 0
    ) -> None:
        self.asked, self.tell, self.skip, self.worker = asked, tell, skip, worker
        self.loader = asked.loader
        self.draws = Draws(self.loader.dataset, asked.workers, base_seed(self.loader))
        self.forms: dict[str, tuple[int, list[Any]]] = {}
        self.wrong = 0

    def run(self) -> None:
        if self.asked.streams:
            self._stream()
        else:
            for number, indices in enumerate(self.loader._index_sampler):
                self._batch(number, list(indices) if self.loader._auto_collation else [indices])
                if self.wrong >= WRONG:
                    break
        forms = [[json.loads(f), n, first] for f, (n, first) in self.forms.items()]
        self.tell({"forms": forms})

    def _batch(self, number: int, indices: list[Any]) -> None:
        samples: list[Any] = []
        with self._as_worker(number % max(1, self.asked.workers)) as ready:
            for place, index in enumerate(indices if ready else ()):
                if (number, place) in self.skip:
                    continue
                who = {"index": index, "who": identity(self.loader.dataset, index)}
                self.tell({"at": [number, place], **who})
                try:
                    sample = self.asked.fetch(index)
                except Exception as error:  # noqa: BLE001 - that is what is looked for
                    self._failed({"raised": described(error), "at": [number, place], **who})
                else:
                    samples.append(sample)
                    self._note(index, sample)
            if len(samples) == len(indices):
                self._collate(number, indices, samples)

    def _collate(self, number: int, indices: list[Any], samples: list[Any]) -> None:
        self.tell({"at": [number, -1], "index": None, "who": []})
        # Whoever says that it is a worker gets its batch in shared memory, which a sealed process may not make.
        info, torch_worker._worker_info = torch_worker._worker_info, None
        try:
            self.loader.collate_fn(samples if self.loader._auto_collation else samples[0])
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            forms = [[i, form(s)] for i, s in zip(indices, samples, strict=True)]
            cut = self._goes_together(alike(samples)) if self.loader._auto_collation else None
            self._failed({"collate": described(error), "at": [number, -1], "samples": forms, "cut": cut})
        finally:
            torch_worker._worker_info = info

    def _goes_together(self, samples: list[Any] | None) -> bool:
        try:
            self.loader.collate_fn(samples or [])
        except Exception:  # noqa: BLE001 - then it is not the sizes, or not these alone
            return False
        return bool(samples)

    def _stream(self) -> None:
        """The items that one worker of an iterable dataset gives."""
        with self._as_worker(self.worker) as ready:
            if not ready:
                return
            items: list[Any] = []
            size = self.loader.batch_size or 1
            stream, number = iter(self.loader.dataset), 0
            while True:
                who = {"index": number, "who": shown(stream), "worker": self.worker}
                self.tell({"at": [number, 0], **who})
                try:
                    item = next(stream)
                except StopIteration:
                    break
                except Exception as error:  # noqa: BLE001 - that is what is looked for
                    who["who"] = shown(stream) or who["who"]
                    self._failed({"raised": described(error), "at": [number, 0], **who})
                    break
                items.append(item)
                self._note(number, item)
                number += 1
                if self.loader._auto_collation and len(items) == size:
                    self._collate(number // size - 1, list(range(number - size, number)), items)
                    items = []

    @contextlib.contextmanager
    def _as_worker(self, number: int) -> Iterator[bool]:
        worker = self.draws.as_worker(number, self.loader.worker_init_fn)
        try:
            worker.__enter__()
        except Exception as error:  # noqa: BLE001 - the program's own function
            self._failed({"began": described(error), "worker": number})
            yield False
            return
        yield True
        worker.__exit__(None, None, None)

    def _failed(self, facts: Facts) -> None:
        self.wrong += 1
        self.tell(facts)

    def _note(self, index: Any, sample: Any) -> None:
        key = json.dumps(form(sample), default=str)
        count, first = self.forms.get(key, (0, []))
        if count or len(self.forms) < FORMS:
            self.forms[key] = (count + 1, [*first, index][:12])


def shown(stream: Any) -> list[str]:
    """Where a generator stands, by its small local names."""
    frame = getattr(stream, "gi_frame", None)
    return [f"{n} = {v}" for n, v in small(frame.f_locals).items()][:4] if frame is not None else []
