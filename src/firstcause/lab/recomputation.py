"""Checkpointed regions: the forward and its recomputation side by side, and what makes them equal again.

Runs only in a sealed child. Where the recomputation gives other ops than the forward, the region is computed
once more for each thing that changed in between, with that one thing put back: the one that makes the ops equal is why.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import checkpoint as checkpoints
from torch.utils._python_dispatch import _disable_current_modes

from firstcause.lab import places, states
from firstcause.lab.op_names import OpNames

if TYPE_CHECKING:
    from firstcause.lab.trace import Trace
    from firstcause.record.observe.recorder import Recorder

GENERATOR = "_checkpoint_without_reentrant_generator"
LINES = 50_000
SHOWN = 12
# The packing of a saved tensor detaches it, in the recomputation only.
PACKING = frozenset({"detach", "alias"})
Line = tuple[str, int]
MOST_VARIANTS = 30
# A source by its place in the list, and the attribute of it that changed.
Change = tuple[int, "str | None"]


class Recomputations:
    """Watches ``torch.utils.checkpoint`` without reentry; ``facts`` gives the region that came out otherwise."""

    def __init__(self, trace: Trace, recorder: Recorder) -> None:
        self.trace, self.recorder = trace, recorder
        self.found: dict[str, Any] | None = None
        self._undo: list[Callable[[], None]] = []

    def attach(self) -> None:
        original = getattr(checkpoints, GENERATOR, None)
        if original is None:
            return

        def generator(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Iterator[Any]:
            region = Region(self, function)
            region.begins()
            try:
                yield from original(region.again, *args, **kwargs)
            finally:
                region.ends()

        setattr(checkpoints, GENERATOR, generator)
        self._undo = [lambda: setattr(checkpoints, GENERATOR, original)]

    def detach(self) -> None:
        for undo in self._undo:
            undo()
        self._undo = []

    def facts(self) -> dict[str, Any] | None:
        return self.found

    def sources(self, function: Any) -> list[states.Source]:
        """All that the region may read: generators, the objects behind its function, the program's variables."""
        owner = getattr(function, "__self__", function)
        modules = dict(owner.named_modules()) if isinstance(owner, torch.nn.Module) else {}
        owners: dict[str, Any] = {self.trace.modules.path_of(m): m for m in modules.values()}
        if not owners:
            owners = {self.trace.modules.path_of(m): m for m in self.trace.modules.all()}
        owners |= {
            p: o for p, o in self.recorder.reachable.objects.items() if not isinstance(o, torch.nn.Module)
        }
        generators = states.generators(self.recorder.reachable.generators)
        return [*generators, *states.attributes(owners), *states.variables()]


class Region:
    """One call of checkpoint: what its forward did, and its recomputation."""

    def __init__(self, all_: Recomputations, function: Callable[..., Any]) -> None:
        self.all, self.function = all_, function
        self.sources: list[states.Source] = []
        self.before: list[Any] = []
        self.lines = Lines()
        self.start = self.end = 0
        self.site: dict[str, Any] | None = None

    def begins(self) -> None:
        self.site = places.of_frame(sys._getframe(2), columns=True)
        self.sources = self.all.sources(self.function)
        self.before = [s.read() for s in self.sources]
        self.lines = Lines([s for s in self.sources if s.kind == "generator"])
        self.start = len(self.all.trace.ops)
        self.lines.start()

    def ends(self) -> None:
        self.lines.stop()
        self.end = len(self.all.trace.ops)

    def again(self, *args: Any, **kwargs: Any) -> Any:
        """The recomputation, as it is; compared with the forward when it is over."""
        now = [s.read() for s in self.sources]
        lines = Lines()
        start = len(self.all.trace.ops)
        lines.start()
        stopped = False
        try:
            return self.function(*args, **kwargs)
        except BaseException:
            # Also torch's own signal that everything that was needed has been computed.
            stopped = True
            raise
        finally:
            lines.stop()
            forward, second = self._ops(self.start, self.end), self._ops(start, len(self.all.trace.ops))
            same = forward[: len(second)] == second if stopped else forward == second
            if not same and self.all.found is None:
                self.all.found = self._describe(forward, second, start, lines, now, args, kwargs)

    def _ops(self, start: int, end: int) -> list[tuple[Any, ...]]:
        ops = (o for o in self.all.trace.ops[start:end] if o["op"] not in PACKING)
        return [(o["op"], tuple(o.get("shape", ())), o.get("dtype")) for o in ops]

    def _describe(
        self,
        forward: list[Any],
        second: list[Any],
        start: int,
        lines: Lines,
        now: list[Any],
        args: Any,
        kwargs: Any,
    ) -> dict[str, Any]:
        at = next(
            (i for i, (a, b) in enumerate(zip(forward, second, strict=False)) if a != b),
            min(len(forward), len(second)),
        )
        changed = self._changed(now)
        variants = [self._variant([c], forward, now, args, kwargs) for c in changed]
        several = [c for c in changed if self.sources[c[0]].kind != "generator"]
        if len(several) > 1 and not any(v["equal"] for v in variants):
            variants.append(self._variant(several, forward, now, args, kwargs))
        return {
            "site": self.site,
            "function": self._name(),
            "forward_ops": len(forward),
            "second_ops": len(second),
            "parted_at": at,
            "forward_op": forward[at][0] if at < len(forward) else None,
            "second_op": second[at][0] if at < len(second) else None,
            "parting": parting(self.lines.lines, lines.lines),
            "unchanged_equal": self._run([], now, args, kwargs) == forward,
            "reused": self._reused(start),
            "variants": variants,
        }

    def _changed(self, now: list[Any]) -> list[Change]:
        """What differs from the forward's start, each attribute by itself."""
        found: list[Change] = []
        for i, source in enumerate(self.sources):
            names = source.changed(self.before[i], now[i])
            found += [(i, n) for n in names] if source.kind == "attribute" else [(i, None)] if names else []
        return found[:MOST_VARIANTS]

    def _reused(self, start: int) -> int:
        """How often the recomputation took in a tensor that the forward of this very region had made."""
        inputs = (i for o in self.all.trace.ops[start:] for i in o["inputs"])
        return sum(self.start <= i["made_by"] < self.end for i in inputs if "made_by" in i)

    def _name(self) -> str:
        owner = getattr(self.function, "__self__", self.function)
        if isinstance(owner, torch.nn.Module):
            return self.all.trace.modules.path_of(owner)
        return getattr(self.function, "__qualname__", type(self.function).__name__)

    def _variant(
        self, which: list[Change], forward: list[Any], now: list[Any], args: Any, kwargs: Any
    ) -> dict[str, Any]:
        parts = []
        for i, name in which:
            source = self.sources[i]
            values = [v[name][0] for v in (self.before[i], now[i]) if name in v] if name is not None else []
            parts.append(
                {
                    "kind": source.kind,
                    "name": source.name,
                    "class": source.owner,
                    "attribute": name,
                    "tensors": any(map(states.holds_tensor, values)),
                    "draws": [places.place(*d, "") for d in self.lines.draws.get(source.name, ())][:SHOWN],
                }
            )
        return {"parts": parts[:SHOWN], "equal": self._run(which, now, args, kwargs) == forward}

    def _run(self, which: list[Change], now: list[Any], args: Any, kwargs: Any) -> list[tuple[Any, ...]]:
        """The ops of one more computation with some things put back; everything is as before it afterwards."""
        after = [s.read() for s in self.sources]
        random = torch.get_rng_state()
        try:
            for source, state in zip(self.sources, now, strict=True):
                source.write(state)
            for i, name in which:
                self.sources[i].write(self.before[i], None if name is None else frozenset((name,)))
            # Only the innermost hooks see a saved tensor, so that torch does not count this run's.
            unpacked = torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t)
            with _disable_current_modes(), torch.enable_grad(), unpacked, OpNames() as names:
                self.function(*args, **kwargs)
            return [o for o in names.ops if o[0] not in PACKING]
        except Exception as error:  # noqa: BLE001
            # The program's own, met on a way that it never took.
            return [(f"raised {type(error).__name__}",)]
        finally:
            for source, state in zip(self.sources, after, strict=True):
                source.write(state)
            torch.set_rng_state(random)


class Lines:
    """The user's lines that run, and after which of them a generator had moved on."""

    def __init__(self, generators: list[states.Source] | None = None) -> None:
        self.generators = generators or []
        self.lines: list[Line] = []
        self.draws: dict[str, list[Line]] = {}
        self._states: list[Any] = []
        self._before: Any = None

    def start(self) -> None:
        self._states = [g.read() for g in self.generators]
        self._before = sys.gettrace()
        sys.settrace(self._call)

    def stop(self) -> None:
        sys.settrace(self._before)
        self._look()

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._line if places.is_user_file(frame.f_code.co_filename) else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event in ("line", "return") and len(self.lines) < LINES:
            self._look()
        if event == "line" and len(self.lines) < LINES:
            self.lines.append((frame.f_code.co_filename, frame.f_lineno))
        return self._line

    def _look(self) -> None:
        for i, generator in enumerate(self.generators):
            state = generator.read()
            if self.lines and generator.changed(self._states[i], state):
                drawn = self.draws.setdefault(generator.name, [])
                if self.lines[-1] not in drawn:
                    drawn.append(self.lines[-1])
            self._states[i] = state


def parting(one: list[Line], other: list[Line]) -> dict[str, Any] | None:
    """The last line that both ways have in common before they part; None where one is the start of the other."""
    for i, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return places.place(*one[i - 1], "") if i else None
    return None
