"""Parameters that get gradients and that no optimizer holds; those that it holds for nothing; modules at several places."""

from __future__ import annotations

from typing import Any

import torch

from firstcause.lab import fresh_values
from firstcause.lab.audit import Watcher
from firstcause.lab.done_again import Again
from firstcause.lab.optimizers import Optimizers, parameters
from firstcause.lab.unheld import Places
from firstcause.lab.untrained import Ran, of_no_module, plain_holder, shared_places

# The steps that are looked at: the first ones, then every tenth, since a second training may follow a first one.
LOOKED, THEN, SHOWN = 60, 10, 12
# A gradient at fewer of them is no training.
LEAST = 5


class Watch(Watcher):
    """``missing`` had a gradient at several of the steps that were looked at and was never changed."""

    def start(self) -> None:
        self.optimizers, self.running = Optimizers(), Ran()
        self.places = Places()
        self.ever_held: set[int] = set()
        self.steps = 0
        # By module the last step before which it ran, by optimizer its own first one.
        self.last_ran: dict[int, int] = {}
        self.first_step: dict[int, int] = {}
        self.last_step: dict[int, int] = {}
        # The modules that run now, and those that ran inside of another one without being part of it.
        self.stack: list[torch.nn.Module] = []
        self.inside: dict[int, str | None] = {}
        # By module the one that it ran inside of as a part.
        self.part_of: dict[int, torch.nn.Module] = {}
        self.again = Again()
        torch.nn.modules.module.register_module_forward_pre_hook(lambda module, args: self._enters(module))

    def _enters(self, module: torch.nn.Module) -> None:
        if self.stack and id(module) not in self.inside:
            outer = self.stack[0]
            part = any(m is module for m in outer.modules())
            self.inside[id(module)] = None if part else type(outer).__name__
            if part:
                self.part_of[id(module)] = outer
        self.stack.append(module)

    def ran(self, module: torch.nn.Module, args: tuple[Any, ...], result: Any) -> None:
        while self.stack and self.stack.pop() is not module:
            pass
        self.running.add(module)
        if self.steps < LOOKED:
            self.again.ran(module, args, result)
        self.last_ran[id(module)] = self.steps

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.first_step.setdefault(id(optimizer), self.steps)
        self.ever_held |= {id(p) for p in parameters(optimizer)}
        self.steps += 1
        self.last_step[id(optimizer)] = self.steps
        if self.steps <= LOOKED or self.steps % THEN == 0:
            self.places.look(self.running, self.optimizers)

    def facts(self) -> dict[str, Any]:
        known = self.running.parameters()
        held = self.optimizers.held() | self.ever_held
        orphans = {p.shape for o in self.optimizers.all for p in parameters(o) if id(p) not in known}
        missing = [i for i in self.places.unheld(LEAST, orphans) if i in known and i not in held]
        roots = self.running.roots()
        names = {
            id(p): (n, type(root).__name__) for root in reversed(roots) for n, p in root.named_parameters()
        }
        trained = [p for i, (p, _, _) in known.items() if i in self.ever_held]
        return {
            "missing": [self._told(known[i], names.get(i)) for i in missing[:SHOWN]],
            "missing_count": len(missing),
            "missing_elements": sum(known[i][0].numel() for i in missing),
            "trained_count": len(trained),
            "of_no_module": len(
                of_no_module(self.optimizers) & self.ever_held | self._replaced() | self._no_part()
            ),
            "shared": [self._alike(one) for one in shared_places(roots)[:SHOWN]],
        }

    def _alike(self, one: dict[str, Any]) -> dict[str, Any]:
        """A module at several places, with the times at which it did the same work again in place of other work."""
        return {k: v for k, v in one.items() if k != "id"} | self.again.counts(one["id"])

    def _replaced(self) -> set[int]:
        """What an optimizer holds of modules that ran before its first step and never since: watchers keep them alive."""
        owners: dict[int, int] = {}
        for i, module in self.running.modules.items():
            for p in module._parameters.values():
                owners[id(p)] = max(owners.get(id(p), 0), self.last_ran[i])
        return {
            id(p)
            for optimizer in self.optimizers.all
            if id(optimizer) in self.first_step
            for p in parameters(optimizer)
            if owners.get(id(p), self.steps) < self.first_step[id(optimizer)]
        }

    def _no_part(self) -> set[int]:
        """What an optimizer held on to after its module, once a part of another one, was taken out of it and ran no more."""
        gone = {
            i: self.running.modules[i]
            for i, outer in self.part_of.items()
            if i in self.running.modules and all(id(m) != i for m in outer.modules())
        }
        alive = {id(p) for root in self.running.roots() if id(root) not in gone for p in root.parameters()}
        found: set[int] = set()
        for optimizer in self.optimizers.all:
            # What is taken out after the training was trained all the same.
            until = self.last_step.get(id(optimizer), 0) - LEAST
            held = {id(p) for p in parameters(optimizer)}
            left = [m for i, m in gone.items() if self.last_ran.get(i, self.steps) < until]
            found |= {id(p) for m in left for p in m.parameters()} & held
        return found - alive

    def _told(
        self, known: tuple[torch.nn.Parameter, torch.nn.Module, str], named: tuple[str, str] | None
    ) -> dict[str, Any]:
        parameter, owner, own_name = known
        held_by = plain_holder(self.running, owner, parameter)
        name, root = named or (own_name, type(owner).__name__)
        return {
            "name": name,
            "class": type(owner).__name__,
            "values": fresh_values.freshness(owner, own_name) if own_name in owner._parameters else "unknown",
            "zero": not bool(parameter.detach().any()),
            "root": root,
            "inside": self.inside.get(id(owner)),
            "container": [type(held_by[0]).__name__, held_by[1]] if held_by is not None else None,
        }
