"""Replay in a fresh sealed process: the program builds everything again, and the saved state joins it at the mark."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch

from firstcause.record import checked
from firstcause.record.observe import check, one_rank, other_device, saved
from firstcause.record.observe.marks import CANDIDATES
from firstcause.record.observe.ranges import ranges
from firstcause.record.observe.replay import Replay, Rewind, not_reached
from firstcause.record.observe.snapshot import Snapshot

if TYPE_CHECKING:
    from firstcause.record.observe.recorder import Recorder


class FreshReplay(Replay):
    """The replay of a step of an earlier process: state by path, comparison by checksum."""

    def __init__(self, recorder: Recorder, folder: str, facts: dict[str, Any], result: int) -> None:
        self.facts, self.folder = facts, folder
        self.structure, self.tensors = saved.load(folder)
        self.started = False
        self.missing: list[str] = []
        self.inputs: list[dict[str, Any]] = []
        self.seen: list[float] = []
        self.talked: list[str] = []
        super().__init__(recorder, None, None, result)

    def matches(self, k: int) -> bool:
        """Whether this mark is the unit's, in its first pass."""
        return not self.started and CANDIDATES[k].key == self.structure["unit"]

    def begin(self, snapshot: Snapshot) -> None:
        """At the first mark of the unit: unwind to it, so that the body runs on the saved state."""
        self.started = True
        self.snapshot = snapshot
        self.window = [snapshot]
        self.recorder.window = self.window
        self.steps_left = self.structure["steps"]
        self.optimizer = self.recorder.reachable.optimizers.get(self.structure["optimizer"] or "")
        self.parameters = self._parameters()
        raise Rewind

    def passes(self) -> Iterator[tuple[Any, ...]]:
        for parameter in self.parameters:
            parameter.grad = None
        self._put_back_tensors()
        self._put_back_objects()
        own = self.snapshot.values
        one_rank.calls.clear()
        self.observer = None
        for recorded in self.structure["window"]:
            values = {
                n: saved.decode(recorded["values"][n], self.tensors, own.get(n))
                for n in self.snapshot.names
                if n in recorded["values"]
            }
            self.snapshot.values = self.adapted(own | values)
            self.snapshot.versions = []
            self.snapshot.keep_values(self.snapshot.values, frozenset())
            after = recorded.get("drawn_rng") or [None] * len(recorded["drawn"])
            self.drawn = [
                (saved.decode(d, self.tensors, None), r and saved.decode_rng(r, self.tensors))
                for d, r in zip(recorded["drawn"], after, strict=True)
            ]
            if self.observer is None:
                self.observer = self.observe(self.recorder)
            saved.put_back_rng(recorded["rng"], self.tensors)
            if self.observer is not None:
                self.observer.pass_begins()
            self.inputs = ranges([*self.snapshot.values.items(), *(("next", v) for v, _ in self.drawn)])
            yield tuple(self.snapshot.values.get(n) for n in self.snapshot.names)

    def adapted(self, values: dict[str, Any]) -> dict[str, Any]:
        """What the body is given instead of what it was given; nothing else, in an exact replay."""
        return values

    def _of_one_rank(self) -> dict[str, Any]:
        """Gradients were summed over the ranks; the loss was this rank's own."""
        if any(type(p).__name__ == "DTensor" for p in self.parameters) or self.talked:
            what = f"it calls {self.talked[0]} before its loss" if self.talked else "its weights are sharded"
            why = f"one rank alone does not have what other ranks have a part in: {what}"
            return {"status": "diverged", "exact": False, "why": why}
        then = [float(x) for x in self.facts["losses"]]
        now = self.seen[-len(then) :] if then else []
        if [repr(x) for x in now] == [repr(x) for x in then]:
            return self._and_lacking({"exact": True, "why": "", "equal_losses": len(then)})
        return {
            "status": "diverged",
            "exact": False,
            "why": f"alone, the rank's loss is {now}, and it was {then}: other ranks have a part in it",
        }

    def _put_back_tensors(self) -> None:
        reachable = self.recorder.reachable
        with torch.no_grad():
            for path, named in self.structure["modules"].items():
                module = reachable.modules.get(path)
                held = (
                    dict([*module.named_parameters(), *module.named_buffers()]) if module is not None else {}
                )
                for name, key in named.items():
                    target, value = held.get(name), self.tensors[key]
                    if target is not None and target.shape == value.shape:
                        target.data.copy_(value)
                    else:
                        self.missing.append(f"{path}.{name}")
            for path, key in self.structure["tensors"].items():
                target = reachable.tensors.get(path)
                if target is not None and target.shape == self.tensors[key].shape:
                    target.data.copy_(self.tensors[key])
                else:
                    self.missing.append(path)
        for path, generator in reachable.generators.items():
            if path in self.structure["generators"]:
                saved.put_back_generator(generator, self.structure["generators"][path], self.tensors)

    def _put_back_objects(self) -> None:
        for path, attributes in self.structure["objects"].items():
            owner = self.recorder.reachable.objects.get(path)
            if owner is not None:
                own = object.__getattribute__(owner, "__dict__")
                for key, data in attributes.items():
                    own[key] = saved.decode(data, self.tensors, own.get(key))

    def loss(self, value: torch.Tensor) -> None:
        if self.started:
            if not self.seen:
                self.talked = list(one_rank.calls)
            self.seen.append(float(value.detach().float().sum()))
        super().loss(value)

    def arrived(self, optimizer: torch.optim.Optimizer) -> None:
        if not self.started or self.facts["kind"] == "exception":
            return
        if self.structure["optimizer"] is None or optimizer is self.optimizer:
            self.steps_left -= 1
            if self.steps_left <= 0:
                self.finish(None, reached=True)

    def ended(self, error: BaseException | None) -> None:
        # A step that was left out has no arrival: it is over with its body.
        over = (error is None or isinstance(error, Rewind)) and not self.structure["steps"]
        self.finish(None if isinstance(error, Rewind) else error, reached=over)

    def _compare(self, error: BaseException | None, reached: bool) -> dict[str, Any]:
        result: dict[str, Any] = {
            "status": "replayed",
            "passes": len(self.structure["window"]),
            "fresh": True,
            "inputs": self.inputs,
        }
        refusal = self._refusal(error)
        if refusal is not None:
            return result | refusal
        devices = self.structure.get("devices", ["cpu"])
        if self.facts["kind"] == "exception":
            compared = self._and_lacking(self._raised(self.facts["exception"][0], error))
            return other_device.judged(result | compared, devices, error is not None)
        if not reached:
            return other_device.judged(result | self._and_lacking(not_reached(error)), devices, False)
        if one_rank.is_alone():
            return result | self._of_one_rank()
        then_sums, named = self.structure["gradients"], self._named()
        equal = sum(saved.checksum(named[n].grad) == value for n, value in then_sums.items() if n in named)
        differ = len(then_sums) - equal
        why = f"{differ} of {len(then_sums)} gradients differ from the recorded step" if differ else ""
        compared = self._and_lacking(
            {"exact": not differ, "why": why, "gradients": len(then_sums), "equal": equal}
        )
        if self.structure.get("norms"):
            compared = self._and_lacking(self._by_norm(self.structure["norms"], named))
        bad = [n for n, p in named.items() if p.grad is not None and not check.finite(p.grad)]
        return other_device.judged(result | compared, devices, bool(bad))

    def _by_norm(self, then: dict[str, Any], named: dict[str, torch.Tensor]) -> dict[str, Any]:
        """What can be said where the step's gradients were gone when it was written: their norms are the same, or not."""
        held = {n: named[n].grad for n in then if n in named and named[n].grad is not None}
        now = check.weigh((), [g for g in held.values() if g is not None]).norms
        norms = dict(zip(held, now, strict=True))
        equal = sum(str(saved.decode(v, {}, None)) == str(norms.get(n)) for n, v in then.items())
        differ = len(then) - equal
        why = (
            f"{differ} of {len(then)} gradients have another norm than in the recorded step" if differ else ""
        )
        return {"exact": not differ, "why": why, "gradients": len(then), "equal": equal}

    def _and_lacking(self, facts: dict[str, Any]) -> dict[str, Any]:
        """An inexact replay says also what of the saved state found no place in this process."""
        if facts["why"] and self.missing:
            facts["why"] += (
                f"; {len(self.missing)} tensors have no counterpart here, the first is {self.missing[0]}"
            )
        return facts

    def _named(self) -> dict[str, torch.Tensor]:
        return {
            f"{path}.{n}": p
            for path, m in self.recorder.reachable.modules.items()
            for n, p in m.named_parameters()
        }


def failure_to_replay() -> tuple[str, dict[str, Any]]:
    """What this fresh process is to replay: the snapshot's folder and the failure's facts, from the environment."""
    with open(os.environ["FIRSTCAUSE_FAILURE"], encoding="utf-8") as file:
        facts: dict[str, Any] = checked.loads(file.read())
    return os.environ["FIRSTCAUSE_SNAPSHOT"], facts
