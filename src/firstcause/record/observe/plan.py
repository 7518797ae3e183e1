"""What is known of a step from an earlier one with the same parameters: how its gradients are read, and its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from firstcause.record.observe.groups import Groups

if TYPE_CHECKING:
    from firstcause.record.observe.deferred import Slots

# A program in which ever other parameters have gradients makes no more of them than this.
MOST = 16


class Plan:
    """How a step's gradients are read, and the names of its journal row; filled in as far as it is used."""

    __slots__ = ("columns", "deferred", "groups", "met", "slots")

    def __init__(self) -> None:
        self.met = False
        self.groups: Groups | None = None
        self.columns: tuple[str, ...] = ()
        # Whether its steps are read later, once that is known, and where their values arrive.
        self.deferred: bool | None = None
        self.slots: Slots | None = None


class Plans:
    """The plans of a program, by the parameters that have gradients: each optimizer has its own."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], Plan] = {}

    def of(self, parameters: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor]) -> Plan:
        """The plan for these parameters; gradients are grouped when they come for the second time."""
        key = tuple(map(id, parameters))
        plan = self._known.get(key)
        if plan is None:
            if len(self._known) == MOST:
                self._known.clear()
            plan = self._known[key] = Plan()
        elif not plan.met:
            plan.met = True
            if Groups.possible(gradients):
                plan.groups = Groups(gradients)
        return plan
