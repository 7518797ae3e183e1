"""What a specialist may look at: the run, the failing step's replay, and the user's source."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import Any, TypeVar

from firstcause.lab.ancestry import nearest_first
from firstcause.lab.counterfactual import Lab
from firstcause.record.folder import RunFolder, relative
from firstcause.record.journal import steps_of
from firstcause.record.ranked import world_of
from firstcause.schema import Evidence, Run, Site, Symptom
from firstcause.source.project import Project

Facts = dict[str, Any]
# What is said of values that are no numbers, or that no longer lie where they must.
NOT_FINITE = re.compile(
    r"\b(nan|inf|infinity|infinite|finite|isfinite|isnan|isinf|diverg\w*|overflow\w*|explo\w*|invalid|constraint"
    r"|positive.definite|converge\w*|probabilit\w*|between 0 and 1|singular|assert)\b",
    re.IGNORECASE,
)
T = TypeVar("T")


class Examination:
    """One failure of one run."""

    def __init__(
        self, folder: RunFolder, run: Run, symptom: Symptom, failure: Facts | None, lab: Lab | None = None
    ) -> None:
        self.folder = folder
        self.run = run
        self.symptom = symptom
        self.failure: Facts = failure or {}
        self.replay: Facts = self.failure.get("replay") or {}
        self.trace: Facts = self.replay.get("trace") or {}
        # Where the program may be run again with one thing changed; None where that is not allowed.
        self.lab = lab
        # What one specialist worked out and another needs too.
        self.memory: dict[str, Any] = {}

    @cached_property
    def project(self) -> Project | None:
        """The user's source, read from the script that was run; None where there is none to be read."""
        unit = self.failure.get("unit") or {}
        script = next((w for w in self.run.command if w.endswith(".py")), None)
        path = os.path.join(self.run.folder, script) if script else unit.get("file")
        return Project.of_script(path) if path and os.path.isfile(path) else None

    @cached_property
    def rows(self) -> list[Facts]:
        """The recorded figures of each step before the failing one, of the process that took most steps."""
        rows = steps_of(self.folder.journals().values())
        return [r for r in rows if self.step is None or r["step"] < self.step]

    @property
    def has_bad_value(self) -> bool:
        """Whether the failure is a value that is not finite, or the replay met one."""
        return self.symptom.kind == "nan" or self.root is not None

    @property
    def step(self) -> int | None:
        return self.failure.get("step")

    @property
    def _may_be_replayed_again(self) -> bool:
        """Whether leave is all that a second run lacks: not where no data is kept, nor on several ranks."""
        recording = (self.run.environment or {}).get("recording")
        kept = not (isinstance(recording, dict) and recording.get("no_data") is True)
        return kept and world_of(self.folder.path) < 2 and (self.lab is None or not self.lab.allowed())

    def steps_of(self, module: str, writes: int) -> int:
        """The recorded steps before the failure in which a module was trained whose weight was written so often."""
        begins = f"grad_norm/{module}."
        steps = sum(any(k.startswith(begins) for k in row) for row in self.rows)
        # Its initial values are a write too: a new one of the same name was written less often than there were steps.
        return steps if writes > steps else 0

    @property
    def not_replayed(self) -> str:
        """Why there is no replay of the failing step; empty where there is one."""
        if not self.failure:
            kept = "the failing step was not kept: it lies outside of every loop and function that holds an optimizer step"
            if self.symptom.kind != "exception" or not self._may_be_replayed_again:
                return kept
            return f"{kept}; `firstcause diagnose --yes` runs the program once more and replays what is around it"
        if self.failure.get("not_replayable") and not self.replay:
            return f"the failing step could not be replayed: {self.failure['not_replayable']}"
        if self.replay.get("status") == "withheld":
            place, seen = self.site(self.replay.get("site")), self.replay.get("seen")
            found = f" ({seen}{f' at {place}' if place else ''})" if seen else ""
            return f"the values of the failing step{found}: {self.replay['why']}; record it again without --no-data"
        if self.replay.get("status") != "replayed":
            return f"the failing step could not be replayed: {self.replay.get('why', 'no replay was made')}"
        return ""

    def once(self, key: str, work: Callable[[], T]) -> T:
        """What ``work`` gives, done at the first question; for what more than one cause needs."""
        if key not in self.memory:
            self.memory[key] = work()
        known: T = self.memory[key]
        return known

    def site(self, place: Facts | None) -> Site | None:
        """A place of the record as a Site, its file relative to the run's folder."""
        if place is None:
            return None
        file = relative(place["file"], self.run.folder)
        return Site(file, place["line"], place.get("function") or "", place.get("text") or "")

    # ------------------------------------------------------------------ for the fix

    def place(self, place: Facts | None) -> Facts:
        """A place of the record as ``fix`` takes it: the file's absolute path, the line, and the columns if known."""
        if place is None:
            return {}
        keys = ("line", "column", "end_line", "end_column")
        path = os.path.abspath(os.path.join(self.run.folder, place["file"]))
        return {"file": path} | {k: place[k] for k in keys if k in place}

    def owner(self, path: str | None) -> Facts:
        """The outermost class of the program around a module, and the module's path beneath its objects."""
        owners = self.trace.get("owners") or {}
        around = [p for p in owners if path and path.startswith(p + ".")]
        if not path or not around:
            return {}
        outermost = min(around, key=len)
        return {"class_name": owners[outermost], "attribute_path": path[len(outermost) + 1 :]}

    # ------------------------------------------------------------------ numbers

    @cached_property
    def births(self) -> list[Facts]:
        return list(self.trace.get("births") or [])

    @cached_property
    def root(self) -> Facts | None:
        """The first ancestor of what went bad: the birth that the others come from.

        With a bad loss, the earliest ancestor of it; with a good loss, that of the first bad value in the
        backward pass. A masking infinity counts only where nothing else is behind the bad value.
        """
        if self.symptom.kind == "exception" and not self._raised_for_values:
            return None
        bad_losses = [x for x in self.trace.get("losses") or [] if x["ancestors"]]
        if bad_losses:
            among = set(bad_losses[0]["ancestors"])
        else:
            phases = {b["phase"] for b in self.births}
            first = next(
                (
                    i
                    for i, b in enumerate(self.births)
                    if not self._masking(b) and (b["phase"] == "backward" or "backward" not in phases)
                ),
                None,
            )
            among = set() if first is None else {first, *self.births[first]["ancestors"]}
        ordered = [self.births[i] for i in sorted(among)]
        return next((b for b in ordered if not self._masking(b)), ordered[0] if ordered else None)

    @cached_property
    def _raised_for_values(self) -> bool:
        """Whether an exception may come from a value that is not finite: by its words, or what the last call was given."""
        refused = self.trace.get("refused") or {}
        if refused.get("op"):
            return False
        kept = [*(self.failure.get("exception") or []), self.replay.get("exception")]
        raised = [e for e in kept if isinstance(e, dict)]
        texts = [str(e.get("message", "")) for e in raised]
        texts += [str(f.get("text", "")) for e in raised for f in (e.get("frames") or [])[-1:]]
        call = self.trace.get("call") or {}
        # Where nothing of torch's raised, its operands are only what the line names.
        given = [o for o in call.get("operands") or [] if call.get("function") and isinstance(o, dict)]
        bad = any(o.get("nan") or o.get("inf") or o.get("-inf") for o in given)
        return bad or any(NOT_FINITE.search(t) for t in texts)

    @staticmethod
    def _masking(birth: Facts) -> bool:
        figures = birth.get("output") or {}
        only_minus = figures.get("-inf", 0) > 0 and not figures.get("nan") and not figures.get("inf")
        return bool(birth.get("constant")) or (birth["op"] == "source" and only_minus)

    # ------------------------------------------------------------------ exceptions

    @property
    def refused(self) -> Facts | None:
        """The op that refused its input, where the failure is an exception."""
        refused = self.trace.get("refused")
        return refused if self.symptom.kind == "exception" and refused and refused.get("op") else None

    def op(self, number: int | None) -> Facts | None:
        """An op of the replay by its number, where it lies behind the failure."""
        chain: Facts = self.trace.get("chain") or {}
        return chain.get(str(number))

    def behind(self, inputs: Iterable[Facts], most: int = 200) -> Iterator[Facts]:
        """The ops from which inputs of an op were computed, nearest first, as far as the record holds them."""

        def makers(of: Iterable[Facts]) -> list[int]:
            return [i["made_by"] for i in of if self.op(i.get("made_by")) is not None]

        numbers = nearest_first(makers(inputs), lambda number: makers((self.op(number) or {})["inputs"]))
        yield from (op for number in islice(numbers, most) if (op := self.op(number)) is not None)

    # ------------------------------------------------------------------ evidence

    def replayed(self, supports: bool, text: str, values: Facts, site: Site | None) -> Evidence:
        """Evidence from the replay, which says of itself whether it was exact."""
        if not self.replay.get("exact"):
            text = f"{text} (the replay is not exact: {self.replay.get('why')})"
        exact = bool(self.replay.get("exact"))
        rank = int(self.failure.get("rank") or 0)
        return Evidence("replay", supports, text, values | {"exact": exact}, site, self.step, rank)
