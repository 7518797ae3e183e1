"""The places of modules where parameters have gradients and no optimizer, whichever objects stand there. Sealed child only."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import torch

from firstcause.lab.optimizers import Optimizers, figure_of
from firstcause.lab.untrained import Ran, without_optimizer

# Looks at one object; fewer are no sign that it was there for a step to change it.
LEAST_SAME = 2


@dataclass
class Place:
    """A name of a module, and what stood there without an optimizer: the last one with its first figure, and at how many looks.

    What stands there may be another object later on; ``longest`` is the most looks at one and the same.
    """

    owner: torch.nn.Module
    name: str
    parameter: torch.nn.Parameter
    figure: float
    looks: int = 0
    own_looks: int = 0
    longest: int = 0
    objects: int = 1
    changed: bool = False

    def look(self, parameter: torch.nn.Parameter) -> None:
        """What stands there now has a gradient and no optimizer."""
        if parameter is not self.parameter:
            self.changed = self.has_changed()
            self.objects += 1
            self.parameter, self.figure, self.own_looks = parameter, figure_of(parameter), 0
        self.looks += 1
        self.own_looks += 1
        self.longest = max(self.longest, self.own_looks)

    def has_changed(self) -> bool:
        """Whether any that stood there has changed its values while it did."""
        return self.changed or figure_of(self.parameter) != self.figure

    def now(self) -> torch.nn.Parameter | None:
        """What stands there now; a parameter in a container is itself."""
        return self.owner._parameters.get(self.name, self.parameter)


class Places:
    """The places of parameters that have a gradient and no optimizer, as they are looked at from time to time."""

    def __init__(self) -> None:
        self.all: dict[tuple[int, str], Place] = {}

    def look(self, ran: Ran, optimizers: Optimizers) -> None:
        """Look at each place that has one now."""
        known = ran.parameters()
        for p in without_optimizer(ran, optimizers):
            _, owner, name = known[id(p)]
            key = (id(owner), name) if owner._parameters.get(name) is p else (id(p), "")
            if key not in self.all:
                self.all[key] = Place(owner, name, p, figure_of(p))
            self.all[key].look(p)

    def unheld(self, least: int, orphans: Collection[torch.Size]) -> list[int]:
        """The ids of what stands now at those places that had one at ``least`` looks, and whose values never changed.

        Of a place with several, only if an optimizer holds one of its shape that no module has any more (``orphans``): a
        program that draws one anew from time to time, and was to train none, does as it means to.
        """
        found = [
            p.now()
            for p in self.all.values()
            if p.looks >= least and p.longest >= LEAST_SAME and not p.has_changed()
            if p.objects == 1 or p.parameter.shape in orphans
        ]
        return [id(p) for p in found if p is not None]
