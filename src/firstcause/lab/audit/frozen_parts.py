"""Parameters that are switched off: what they hold, since when, and who was to train them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import torch

from firstcause.lab import fresh_values
from firstcause.lab.audit import Watcher
from firstcause.lab.optimizers import figure_of
from firstcause.lab.untrained import Ran

# The steps of each optimizer that are looked at: the first ones, then every tenth.
LOOKED, THEN, SHOWN = 60, 10, 400


@dataclass
class Held:
    """What one optimizer held at its steps, what of it was on at any of them, and whether the last look found all off."""

    steps: int = 0
    # The program's first and last step that was this optimizer's.
    first: int = 0
    last: int = 0
    held: set[int] = field(default_factory=set)
    on: set[int] = field(default_factory=set)
    idle: bool = False
    # By module the number of its steps before which the module ran since the step before.
    beside: Counter[int] = field(default_factory=Counter)


class Watch(Watcher):
    """Facts: ``frozen``, the parameters of models that ran in training and are off at the end; ``on``, the others' names;
    ``stages``, how many trainings of the same parameters followed each other.
    """

    def start(self) -> None:
        self.running, self.total = Ran(), 0
        # The modules that ran since the last step, with gradients or without.
        self.since: set[int] = set()
        # In the order of their first steps. An optimizer may be gone before the end, and its number another one's.
        self.records: list[Held] = []
        self.of: WeakKeyDictionary[torch.optim.Optimizer, Held] = WeakKeyDictionary()
        # By parameter: the last step of the program at which it was on, and whether all of its group was off throughout.
        self.last_on: dict[int, int] = {}
        self.alone: dict[int, bool] = {}
        # What each held when it was first found off: averages and codes are written by hand.
        self.figure: dict[int, float] = {}

    def ran(self, module: torch.nn.Module, args: tuple[Any, ...], result: Any) -> None:
        self.running.add(module)
        self.since.add(id(module))

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.total += 1
        if optimizer not in self.of:
            self.of[optimizer] = Held()
            self.records.append(self.of[optimizer])
        record = self.of[optimizer]
        record.steps += 1
        record.first, record.last = record.first or self.total, self.total
        record.beside.update(self.since)
        self.since = set()
        if record.steps > LOOKED and record.steps % THEN:
            return
        record.idle = True
        for i, (parameter, _, _) in self.running.parameters().items():
            if not parameter.requires_grad and i not in self.figure:
                self.figure[i] = figure_of(parameter)
        for group in optimizer.param_groups:
            known = {id(p) for p in group["params"]}
            on = {id(p) for p in group["params"] if p.requires_grad}
            record.held |= known
            record.on |= on
            record.idle = record.idle and not on
            self.last_on.update(dict.fromkeys(on, self.total))
            for one in known:
                self.alone[one] = self.alone.get(one, True) and not on

    def facts(self) -> dict[str, Any]:
        frozen, on = [], []
        self.off = [
            (figure_of(p), p, root, n)
            for root in self.running.roots()
            for n, p in root.named_parameters()
            if p.is_floating_point() and not p.requires_grad
        ]
        for root in self.running.roots():
            named = [(n, p) for n, p in root.named_parameters() if p.is_floating_point()]
            frozen += [self._told(root, n, p) for n, p in named if not p.requires_grad and self._stands(p)]
            on += [[type(root).__name__, n] for n, p in named if p.requires_grad]
        return {
            "frozen": frozen[:SHOWN],
            "on": on[:SHOWN],
            "steps_seen": self.total,
            "stages": self._stages(),
        }

    def _stages(self) -> int:
        """How many optimizers, each begun when the one before had ended, trained some of the same parameters."""
        most = 0
        for n, one in enumerate(self.records):
            later = [r for r in self.records[n + 1 :] if r.first > one.last and r.on & one.on]
            most = max(most, 1 + len(later))
        return most

    def _stands(self, parameter: torch.nn.Parameter) -> bool:
        """Whether it holds what it held when it was first found off."""
        return figure_of(parameter) == self.figure.get(id(parameter), figure_of(parameter))

    def _told(self, root: torch.nn.Module, name: str, parameter: torch.nn.Parameter) -> dict[str, Any]:
        path, _, own = name.rpartition(".")
        owner = root.get_submodule(path)
        parents = [root.get_submodule(path[:i]) for i, c in enumerate(path) if c == "."]
        holders = [r for r in self.records if id(parameter) in r.held]
        twin = self._twin(parameter)
        return {
            "name": name,
            "root": type(root).__name__,
            "class": type(owner).__name__,
            "elements": parameter.numel(),
            "values": self._values(owner, own, twin),
            "drawn": fresh_values.is_noise(parameter),
            "held": bool(holders),
            "last_on": self.last_on.get(id(parameter)),
            # ``module.requires_grad = True`` makes an attribute of the module, and switches nothing on.
            "said_on": any(m.__dict__.get("requires_grad") is True for m in (root, *parents, owner)),
            "added": any(self._is_added(id(parameter), r) for r in holders),
            "alone": bool(holders) and self.alone.get(id(parameter), False),
            "copy_of": type(twin[0]).__name__ if twin is not None else None,
            # Whether what it is a copy of runs at most steps of those who are to train the copy, as a teacher does.
            "beside": twin is not None and any(2 * r.beside[id(twin[0])] >= r.steps > 0 for r in holders),
            "idle": bool(holders) and all(r.idle for r in holders),
        }

    def _twin(self, parameter: torch.nn.Parameter) -> tuple[torch.nn.Module, str, torch.nn.Parameter] | None:
        """The model that has another parameter of the same values, which is off too; its name there, and itself."""
        own = figure_of(parameter)
        return next(((r, n, p) for f, p, r, n in self.off if f == own and p is not parameter), None)

    def _values(
        self,
        owner: torch.nn.Module,
        own: str,
        twin: tuple[torch.nn.Module, str, torch.nn.Parameter] | None,
    ) -> str:
        """What a parameter holds; a copy has no writes to count, and holds what the other one was given."""
        found = fresh_values.freshness(owner, own)
        if found != fresh_values.FRESH or twin is None:
            return found
        root, name, other = twin
        path, _, last = name.rpartition(".")
        trained = self.last_on.get(id(other)) is not None
        there = fresh_values.freshness(root.get_submodule(path), last)
        return fresh_values.KEPT if trained or there == fresh_values.KEPT else found

    def _is_added(self, parameter: int, record: Held) -> bool:
        """Whether an optimizer was off for it throughout, and holds it besides all that an earlier one held."""
        earlier = self.records[: next(i for i, r in enumerate(self.records) if r is record)]
        return parameter not in record.on and any(
            r.held < record.held and parameter not in r.held for r in earlier
        )
