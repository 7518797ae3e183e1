"""The program once more in a sealed process, up to a loader that fails: what its workers would meet is looked for there."""

from __future__ import annotations

import atexit
import json
import os
import time
from types import FrameType
from typing import Any

from torch.utils.data import dataloader

from firstcause.lab.loading import deaths, explained, handles, pickled
from firstcause.lab.loading.asked import Asked, Loaders
from firstcause.lab.loading.child import Child, Facts
from firstcause.lab.loading.walk import Walk
from firstcause.lab.loading.workers import Draws
from firstcause.lab.loading.wrong import is_wrong

# The seconds that a sample may take, and how many deaths, good samples beside a failing one, and failing ones are looked at.
WAIT, DEATHS, GOOD, EXPLAINED = 6.0, 3, 8, 2


class Loading:
    """Looks at each loader as it is begun, and leaves the process once something was found."""

    def __init__(self, plan: Facts, result: int) -> None:
        self.plan, self.result = plan, result
        self.end = time.monotonic() + float(plan["seconds"])
        self.own = handles.files()
        self.opened = handles.Opened()
        self.loaders = Loaders()
        self.seen: list[Facts] = []
        self.written = False
        self._follow()
        atexit.register(self.finish, "the program ended")

    def _follow(self) -> None:
        kind: Any = dataloader.DataLoader
        begin = kind.__iter__

        def begun(loader: Any) -> Any:
            asked = self.loaders.of(loader)
            if asked is not None and time.monotonic() < self.end:
                asked.begun += 1
                self.look(asked)
            return begin(loader)

        kind.__iter__ = begun
        single: Any = dataloader._SingleProcessDataLoaderIter
        following = single._next_data

        def given(iterator: Any) -> Any:
            """The batch with the random numbers of the worker that would have made it."""
            asked = next((a for a in self.loaders.made if a.loader.dataset is iterator._dataset), None)
            self.opened.fetching = True
            try:
                if asked is None or not asked.workers or asked.streams:
                    return following(iterator)
                draws = iterator.__dict__.setdefault(
                    "_draws", Draws(iterator._dataset, asked.workers, iterator._base_seed)
                )
                ended: StopIteration | None = None
                begin = asked.loader.worker_init_fn
                with draws.as_worker(iterator._num_yielded % asked.workers, begin, named=False):
                    try:
                        batch = following(iterator)
                    except StopIteration as stop:
                        ended = stop
                if ended is not None:
                    raise ended
                return batch
            finally:
                self.opened.fetching = False

        single._next_data = given

    # ------------------------------------------------------------------

    def look(self, asked: Asked) -> None:
        """One loader, at the beginning of an epoch; the process ends here where something is wrong with it."""
        found: Facts = {"loader": asked.facts(), "epoch": asked.begun}
        if asked.workers and asked.method in ("spawn", "forkserver") and asked.begun == 1:
            found["pickle"] = pickled.unpicklable(asked)
        if asked.workers > 1 and asked.method == "fork" and asked.begun == 1 and not asked.streams:
            found["handle"] = handles.shared(asked, self.opened, self.own)
        if not found.get("pickle") and not self._settled(found.get("handle")) and not self.plan.get("silent"):
            found["walk"] = self._walk(asked)
        self.seen = [s for s in self.seen if s["loader"] != found["loader"]] + [found]
        if is_wrong(found):
            self.finish("something was found")
        if self.plan.get("silent") and asked.workers:
            self.finish("a loader with workers was looked at")

    def _settled(self, handle: Facts | None) -> bool:
        """Whether what a shared file does to a read is the failure that is looked for: each sample by itself is well then."""
        raised = ((handle or {}).get("read") or {}).get("beside", {}).get("raised")
        return bool(raised and raised["type"] == self.plan.get("raised"))

    def _walk(self, asked: Asked) -> Facts:
        found: Facts = {
            "raised": [],
            "collate": [],
            "deaths": [],
            "began": [],
            "forms": [],
            "asked": 0,
            "lost": [],
        }
        end = min(self.end, time.monotonic() + float(self.plan["seconds"]) / 2)
        for worker in range(max(1, asked.workers) if asked.streams else 1):
            skip: frozenset[tuple[int, int]] = frozenset()
            while len(found["deaths"]) < DEATHS:
                at, ended = self._pass(asked, worker, skip, found, end)
                if ended is None or at is None:
                    break
                found["deaths"].append(at | {"ended": ended} | self._again(asked, at))
                if asked.streams:
                    break
                skip |= {(at["at"][0], at["at"][1])}
        found["memory"] = deaths.memory() if found["deaths"] else {}
        self._explain(asked, found)
        return found

    def _pass(
        self, asked: Asked, worker: int, skip: frozenset[tuple[int, int]], found: Facts, end: float
    ) -> tuple[Facts | None, Facts | None]:
        """One walk; where it stood and how it ended, if it did not come to its end."""

        walking, at = Child(lambda child: Walk(asked, child.tell, skip, worker).run()), None
        for told in walking.answers(min(WAIT, max(1.0, end - time.monotonic())), end):
            if "raised" in told or "collate" in told or "began" in told:
                found[next(k for k in ("raised", "collate", "began") if k in told)].append(told)
            elif "at" in told:
                at = told
                found["asked"] += told["at"][1] >= 0 or asked.streams
            elif "forms" in told:
                found["forms"] += told["forms"]
            elif "lost" in told:
                found["lost"].append(told["lost"])
        return at, walking.ended

    def _again(self, asked: Asked, at: Facts) -> Facts:
        return deaths.alone(asked, at, WAIT) if at["index"] is not None else {"alone": None, "site": None}

    def _explain(self, asked: Asked, found: Facts) -> None:
        """What tells the failing samples from others, for the first few of them."""
        if asked.streams:
            return
        wrong = [r["index"] for r in found["raised"]][:EXPLAINED] or _odd(found)[:EXPLAINED]
        raised = {repr(r["index"]) for r in found["raised"]}
        good = [
            i
            for _, _, first in sorted(found["forms"], key=lambda f: -f[1])
            for i in first
            if repr(i) not in raised
        ]
        for index in wrong:
            beside = [g for g in good if g != index][:GOOD]

            def work(child: Child, index: Any = index, beside: list[Any] = beside) -> None:
                child.tell({"why": explained.explain(asked, index, beside)})

            for told in Child(work).answers(3 * WAIT, self.end):
                if told.get("why"):
                    found.setdefault("explained", []).append({"index": index} | told["why"])

    def finish(self, why: str) -> None:
        """Write what was seen, and leave the process."""
        if not self.written:
            self.written = True
            text = json.dumps({"seen": self.seen, "ended": why}, default=str) + "\n"
            os.write(self.result, text.encode())
        os._exit(0)


def _odd(found: Facts) -> list[Any]:
    """Of the first batch that does not go together, the samples that are not of the commonest form."""
    if not found["collate"]:
        return []
    samples = found["collate"][0]["samples"]
    forms = [json.dumps(f) for _, f in samples]
    common = max(forms, key=forms.count)
    return [index for (index, _), form in zip(samples, forms, strict=True) if form != common]


def start(plan_path: str, result: int, frame: FrameType) -> None:
    """Look at the loaders of the program whose ``__main__`` is about to run in ``frame``."""
    with open(plan_path, encoding="utf-8") as file:
        plan = json.load(file)
    Loading(plan, result)
