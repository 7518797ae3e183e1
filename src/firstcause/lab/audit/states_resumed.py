"""Trainings that go on from a file that this process saved: what lived at the save, and what of it came back.

The setting ``carry`` names kinds of state (``lab/components``) that are put back at the load from what lived at the save;
``shift`` is added to the positions that a loaded file holds.
"""

from __future__ import annotations

import functools
import json
import math
import os
import pickle
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from firstcause.lab import components, held, places
from firstcause.lab.audit import Watcher
from firstcause.lab.components import Component
from firstcause.lab.payloads import Payload, together

MOST_SAVES, SHOWN, LONGEST = 40, 8, 4_000_000
# What a thing was at the first steps tells at a save whether it moves.
FIRST_STEPS = 3
# The names under which programs keep how far they are.
POSITION = ("epoch", "step", "iter", "batch", "seen", "round")


class Told(dict[Any, Any]):
    """A table from a file that notes which of its keys the program asks for."""

    def __init__(self, table: dict[Any, Any]) -> None:
        super().__init__(table)
        self.asked: set[Any] = set()

    def __getitem__(self, key: Any) -> Any:
        self.asked.add(key)
        return super().__getitem__(key)

    def get(self, key: Any, default: Any = None) -> Any:
        self.asked.add(key)
        return super().get(key, default)

    def pop(self, key: Any, *default: Any) -> Any:
        self.asked.add(key)
        return super().pop(key, *default)


@dataclass
class Save:
    """The files that were written between two steps, one of them with trained weights, and what lived then."""

    site: dict[str, Any]
    places: list[held.Place]
    files: list[str]
    payloads: list[Payload]
    living: list[Component]
    optimizer: torch.optim.Optimizer
    row: int

    def holds(self, component: Component) -> bool:
        return any(component.saved_in(p) for p in self.payloads)


@dataclass
class Resumed:
    """A module that was given the weights of a save; ``before`` are the generators as the load found them."""

    save: Save
    module: torch.nn.Module
    site: dict[str, Any]
    places: list[held.Place]
    before: list[Component]
    table: Told
    facts: dict[str, Any] = field(default_factory=dict)


class Watch(Watcher):
    """Facts: ``resumed``, one entry a load that training went on from. Rows: ``run``, ``entering``, ``batch``."""

    def start(self) -> None:
        self.carry = frozenset(self.settings.get("carry") or ())
        self.shift = int(self.settings.get("shift") or 0)
        self.saves: list[Save] = []
        self.loose: list[tuple[int, str, Payload]] = []
        self.waiting: list[Resumed] = []
        self.done: list[Resumed] = []
        self.optimizers: list[torch.optim.Optimizer] = []
        self.steps: dict[int, int] = {}
        self.first: dict[tuple[str, str], Any] = {}
        self.entered: set[str] = set()
        self.set_again: set[str] = set()
        self.read_last, self.read = "", Told({})
        self.row, self.run, self.entering = -1, 0, ""
        self.inputs: Any = None
        self.batch: list[str] = []
        self.broken = ""
        self._wrap(torch, "save", self._saved)
        self._wrap(torch, "load", self._read)
        self._wrap(torch.nn.Module, "load_state_dict", self._loaded)
        for module in (pickle, json):
            self._wrap(module, "dump", self._saved)
        numpy = getattr(sys.modules.get("numpy"), "random", None)
        for owner, name in ((torch, "set_rng_state"), (random, "setstate"), (numpy, "set_state")):
            if owner is not None:
                self._wrap(owner, name, self._set_again)
        torch.random.set_rng_state = torch.set_rng_state
        for kind in (torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler):
            self._wrap(kind, "load_state_dict", self._also_loaded)

    def _wrap(self, owner: Any, name: str, told: Callable[..., Any]) -> None:
        original = getattr(owner, name)

        @functools.wraps(original)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            try:
                return told(result, *args, **kwargs)
            except Exception as error:  # noqa: BLE001 - what looks on must not end the program that it looks at
                self.broken = self.broken or repr(error)
                return result

        setattr(owner, name, wrapped)

    # ------------------------------------------------------------------ the steps

    def ran(self, module: torch.nn.Module, args: tuple[Any, ...], result: Any) -> None:
        self.inputs = args

    def loss(self, value: torch.Tensor) -> None:
        if isinstance(self.inputs, tuple):
            given = (t for t in self.inputs if isinstance(t, torch.Tensor) and t.numel() <= LONGEST)
            self.batch.append(together(given))
        self.inputs = None

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.row += 1
        self.run = self._number(optimizer)
        done = self.steps.get(id(optimizer), 0)
        if done < FIRST_STEPS:
            seen = held.held_from(sys._getframe(1))
            for one in [*components.averages(optimizer, seen), *components.counters(seen)]:
                self.first.setdefault((one.kind, one.name), _content(one))
        self.steps[id(optimizer)] = done + 1
        self.entering = together(_trained(optimizer))
        self.entered.add(self.entering)
        for resumed in [r for r in self.waiting if _trains(optimizer, r.module)]:
            self.waiting.remove(resumed)
            if resumed.save.optimizer is not optimizer:
                self._goes_on(resumed, optimizer)

    def figures(self) -> dict[str, Any]:
        batch, self.batch = "".join(self.batch), []
        return {"run": self.run, "entering": self.entering, "batch": batch}

    def _number(self, optimizer: torch.optim.Optimizer) -> int:
        number = next((n for n, o in enumerate(self.optimizers) if o is optimizer), None)
        if number is None:
            self.optimizers.append(optimizer)
            return len(self.optimizers) - 1
        return number

    # ------------------------------------------------------------------ the save

    def _saved(self, result: Any, obj: Any, f: Any = None, *args: Any, **kwargs: Any) -> Any:
        payload, file = Payload(obj), _file(f)
        now = [s for s in self.saves if s.row == self.row]
        if now:
            now[-1].payloads.append(payload)
            now[-1].files.append(file)
            return result
        frame = sys._getframe(1)
        site = places.of_frame(frame, columns=True)
        of = next((o for o in reversed(self.optimizers) if payload.holds_tensors(_trained(o), 0.9)), None)
        if of is None or site is None:
            self.loose.append((self.row, file, payload))
            return result
        if len(self.saves) < MOST_SAVES:
            seen = held.held_from(frame)
            living = [*components.of_training(of, seen), *components.counters(seen)]
            with_it = [(file, payload), *((n, p) for row, n, p in self.loose if row == self.row)]
            files, payloads = [n for n, _ in with_it], [p for _, p in with_it]
            self.saves.append(Save(site, seen, files, payloads, living, of, self.row))
        return result

    # ------------------------------------------------------------------ the load

    def _read(self, result: Any, f: Any = None, *args: Any, **kwargs: Any) -> Any:
        self.read_last = _file(f)
        if type(result) is not dict or not any(self.read_last in s.files for s in self.saves):
            return result
        self.read = Told(_shifted(result, self.shift))
        return self.read

    def _loaded(self, result: Any, module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
        frame = sys._getframe(1)
        site = places.of_frame(frame, columns=True)
        weights = [p for p in module.parameters() if p.requires_grad]
        held_in = [
            s for s in self.saves if weights and any(p.holds_tensors(weights, 1.0) for p in s.payloads)
        ]
        if not held_in or site is None or any(r.module is module for r in self.waiting):
            return result
        save = next((s for s in reversed(held_in) if self.read_last in s.files), held_in[-1])
        seen = held.held_from(frame)
        resumed = Resumed(save, module, site, seen, components.generators(seen), self.read)
        self.waiting = [r for r in self.waiting if not _is_part(r.module, module)] + [resumed]
        self._put_back(resumed, components.optimizers_of({id(p) for p in weights}), seen)
        return result

    def _also_loaded(self, result: Any, *args: Any, **kwargs: Any) -> Any:
        for one in self.waiting:
            # The loads of a resume may draw numbers between them; the straight run does not.
            self._put_back(one, [], one.places, only=("generator",))
        return result

    def _set_again(self, result: Any, state: Any, *args: Any, **kwargs: Any) -> Any:
        self.set_again.add(components.plain(state))
        return result

    def _put_back(
        self,
        resumed: Resumed,
        optimizers: list[torch.optim.Optimizer],
        seen: list[held.Place],
        only: tuple[str, ...] = components.KINDS,
    ) -> None:
        wanted = self.carry & frozenset(only)
        if not wanted:
            return
        now = [*components.generators(seen), *components.counters(seen)]
        for optimizer in optimizers:
            now += [c for c in components.of_training(optimizer, seen) if c.kind != "generator"]
        for saved in resumed.save.living:
            mine = components.matching(saved, now) if saved.kind in wanted else None
            if mine is not None and components.is_fresh(mine) and self._moves(saved):
                components.put_back(mine, saved.state)

    def _goes_on(self, resumed: Resumed, optimizer: torch.optim.Optimizer) -> None:
        seen = held.held_from(sys._getframe(2))
        self._put_back(resumed, [optimizer], seen, ("optimizer", "scheduler", "scaler", "average"))
        now = [*components.of_training(optimizer, seen), *components.counters(seen)]
        pairs = [(c, components.matching(c, now)) for c in resumed.save.living if self._moves(c)]
        missing = [(c, m) for c, m in pairs if m is not None and self._is_missing(resumed, c, m)]
        save, old = resumed.save, resumed.save.optimizer
        numbers = {
            k: v
            for k, v in resumed.table.items()
            if type(v) is int and k in resumed.table.asked and _is_position(k)
        }
        resumed.facts = {
            "row": self.row,
            "saved_row": save.row,
            "save": save.site,
            "load": resumed.site,
            "file": save.files[0],
            "positions": numbers,
            "frames": [p.site for p in resumed.places],
            "restored": sorted(
                {
                    c.kind
                    for c, m in pairs
                    if m is not None
                    and not self._is_missing(resumed, c, m)
                    and c.kind in ("optimizer", "scheduler", "scaler")
                }
            ),
            "same": type(old) is type(optimizer) and _settings(old, optimizer) == _settings(optimizer, old),
            "missing": [self._told(resumed, c, m, seen) for c, m in missing],
        }
        self.done.append(resumed)

    def _moves(self, component: Component) -> bool:
        """Whether training changes a component, as far as that was seen; a copy of past weights is no average of them."""
        if component.kind == "counter":
            first = self.first.get((component.kind, component.name))
            return first is not None and first != component.state
        if component.kind == "average":
            content = _content(component)
            return (
                self.first.get((component.kind, component.name), content) != content
                and content not in self.entered
            )
        return component.kind == "generator" or not components.is_fresh(component)

    def _is_missing(self, resumed: Resumed, saved: Component, now: Component) -> bool:
        if saved.kind == "generator":
            if resumed.save.holds(saved):
                # Whoever sets a generator of its own again leaves no trace that could be seen here.
                return (
                    saved.name in ("torch", "python", "numpy")
                    and components.plain(saved.state) not in self.set_again
                )
            before = components.matching(saved, resumed.before)
            return before is None or not components.same(before, now)
        if saved.kind == "counter":
            return bool(now.state == self.first.get((saved.kind, saved.name)) != saved.state)
        if saved.kind == "average":
            return not components.same(saved, now)
        return components.is_fresh(now)

    def _told(
        self, resumed: Resumed, saved: Component, now: Component, seen: list[held.Place]
    ) -> dict[str, Any]:
        told = {
            "kind": saved.kind,
            "name": saved.name,
            "class": type(saved.thing).__name__,
            "numpy": type(saved.thing).__module__.startswith("numpy"),
            "in_file": resumed.save.holds(saved),
            "saves": _named(resumed.save.places, saved),
            "loads": _named(resumed.places, now),
            "steps": _named(seen, now),
        }
        if saved.kind == "optimizer":
            told |= {"then": len(saved.state["state"]), "now": len(now.state["state"])}
        elif saved.kind == "scheduler":
            told |= {"then": saved.state.get("last_epoch"), "now": now.state.get("last_epoch")}
        elif saved.kind == "counter":
            told |= {"then": saved.state, "now": now.state}
        elif saved.kind == "average":
            apart = _distance(saved.state, now.state)
            weights = _trained(self.optimizers[self.run])
            by_module = hasattr(now.thing, "load_state_dict")
            told |= {
                "then": _distance(saved.state, None),
                "now": apart,
                "by_module": by_module,
                "is_weights": components.averages_same(now.state, weights),
            }
        return told

    def facts(self) -> dict[str, Any]:
        return {"resumed": [r.facts for r in self.done][:SHOWN], "resumed_broken": self.broken}


def _trained(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    return [p for g in optimizer.param_groups for p in g["params"]]


def _trains(optimizer: torch.optim.Optimizer, module: torch.nn.Module) -> bool:
    own = {id(p) for p in module.parameters() if p.requires_grad}
    return 2 * len(own & {id(p) for p in _trained(optimizer)}) >= len(own) > 0


def _is_part(part: torch.nn.Module, whole: torch.nn.Module) -> bool:
    return any(m is part for m in whole.modules())


def _settings(optimizer: torch.optim.Optimizer, other: torch.optim.Optimizer) -> tuple[Any, ...]:
    # A schedule keeps the rate that a group began with beside it; one that is set by hand leaves no such trace.
    both = zip(optimizer.param_groups, other.param_groups, strict=False)
    rates = [own["initial_lr"] for own, theirs in both if "initial_lr" in own and "initial_lr" in theirs]
    return repr(optimizer.defaults), rates, [tuple(p.shape) for p in _trained(optimizer)]


def _content(component: Component) -> Any:
    return together(component.state) if component.kind == "average" else component.state


def _distance(one: list[torch.Tensor], other: list[torch.Tensor] | None) -> float:
    pairs = zip(one, other, strict=False) if other is not None else ((t, torch.zeros_like(t)) for t in one)
    return math.sqrt(sum(float((a - b).double().square().sum()) for a, b in pairs))


def _named(seen: list[held.Place], component: Component) -> list[dict[str, Any]]:
    """Each frame, innermost first, with the expression that names the component there."""
    found = []
    for place in seen:
        if component.kind == "counter":
            names = [
                h.expression for h in place.held if h.owner is component.thing and h.key == component.name
            ]
            expression = min(names, key=len, default=None)
        else:
            expression = place.expression(component.thing)
        found.append({k: place.site[k] for k in ("file", "line", "function")} | {"expression": expression})
    return found


def _file(f: Any) -> str:
    try:
        return str(os.path.realpath(os.fspath(f)))
    except TypeError:
        name = getattr(f, "name", None)
        return os.path.realpath(name) if isinstance(name, str) else f"object {id(f)}"


def _is_position(key: Any) -> bool:
    return isinstance(key, str) and any(word in key.lower() for word in POSITION)


def _shifted(table: dict[Any, Any], shift: int) -> dict[Any, Any]:
    return {k: v + shift if type(v) is int and _is_position(k) else v for k, v in table.items()}
