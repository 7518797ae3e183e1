"""Values that a model is to find for some places, left in its input there though the program makes a version without them.

Seen where a loss compares selected places alone, all of its targets stand in the input at these places, what is given out
for a place changes with the value there, and a call has made the same input without them that no model was given. Losses
that compare every place between them are of a model that gives back what it gets.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.audit import Call, Watcher
from firstcause.lab.derived import SAME_VALUES, Derived
from firstcause.lab.loss_functions import LOSSES
from firstcause.lab.own_places import changes, reached

HIDING = frozenset(
    {"masked_fill", "where", "index_fill", "masked_scatter", "scatter", "index_put", "setitem"}
)
LEAST_LOOKS, MOST_LOOKS, MOST_KEPT, MOST_ELEMENTS = 3, 12, 16, 2_000_000
# The share of the selected places that the version hides: some recipes leave a fifth of them as they are.
HIDDEN = 0.5


@dataclass
class Version:
    """What a call made: a copy of its values, the call's name and place, and whether the result lives on."""

    values: torch.Tensor
    name: str
    site: dict[str, Any] | None
    result: weakref.ref[torch.Tensor]


@dataclass
class Given:
    """What a model was given, and how to see whether what it gives out for a place changes with it."""

    values: torch.Tensor
    looked_up: torch.Tensor | None
    forward: tuple[torch.nn.Module, tuple[Any, ...]] | None
    site: dict[str, Any] | None


class Watch(Watcher):
    """Facts ``left``: the call that hides the values, the model's line, and how many values were compared; else None."""

    CALLS = LOSSES | HIDING | SAME_VALUES | {"embedding"}

    def start(self) -> None:
        self.running: list[torch.nn.Module] = []
        self.selected: Derived[torch.Tensor] = Derived()
        self.versions: list[Version] = []
        self.given: list[Given] = []
        # The versions that were to be given in this step.
        self.pending: list[torch.Tensor] = []
        # The places that the losses of this step compared.
        self.asked: list[torch.Tensor] = []
        self.looks, self.compared, self.busy = 0, 0, False
        self.found: dict[str, Any] | None = None
        # A model has been given a version without the values, or does not see them: they are hidden, all in all.
        self.hidden = False
        torch.nn.modules.module.register_module_forward_pre_hook(
            lambda module, args: self.running.append(module)
        )

    def _over(self) -> bool:
        return self.busy or self.hidden or self.looks >= MOST_LOOKS

    def ran(self, module: torch.nn.Module, args: tuple[Any, ...], result: Any) -> None:
        while self.running and self.running.pop() is not module:
            pass
        if self._over() or not torch.is_grad_enabled() or not args:
            return
        one = args[0]
        if isinstance(one, torch.Tensor) and not one.requires_grad and one.numel() <= MOST_ELEMENTS:
            forward = None if self.running or not one.is_floating_point() else (module, args)
            self._note(Given(one, None, forward, None if self.running else places.here()))

    def _note(self, given: Given) -> None:
        if len(self.given) < MOST_KEPT:
            self.given.append(given)

    def called(self, call: Call) -> None:
        if self._over():
            return
        if call.name == "embedding":
            if isinstance(call.result, torch.Tensor) and call.result.requires_grad:
                self._note(Given(call.args[0], call.result, None, None))
        elif call.name in LOSSES:
            self._look(call)
        elif call.name in HIDING:
            self._version(call)
        elif call.name in ("getitem", "masked_select") and _is_mask(call.args[1]):
            if isinstance(call.result, torch.Tensor):
                self.selected.note(call.result, call.args[1])
        else:
            self.selected.follow(call.name, call.args, call.result)

    def _version(self, call: Call) -> None:
        made = call.result if isinstance(call.result, torch.Tensor) else call.args[0]
        if not isinstance(made, torch.Tensor) or made.requires_grad or made.dim() < 2:
            return
        if made.numel() > MOST_ELEMENTS or made.dtype is torch.bool:
            return
        one = Version(made.detach().clone(), call.name, places.here(), weakref.ref(made))
        self.versions = [*self.versions[1 - MOST_KEPT :], one]

    def _look(self, call: Call) -> None:
        output, target, *_ = (*call.args, None, None)
        if not isinstance(output, torch.Tensor) or not isinstance(target, torch.Tensor):
            return
        if not output.requires_grad or target.requires_grad:
            return
        mask, values = self._selection(call, target)
        if mask is None or not 0 < int(mask.sum()) < mask.numel():
            return
        self.asked.append(mask)
        fits = [g for g in self.given if g.values.shape[: mask.dim()] == mask.shape]
        same = [g for g in fits if _holds(g.values[mask], values)]
        version = next((v for g in same for v in self.versions if _hides(v, g.values, mask)), None)
        if version is None:
            return
        self.looks += 1
        self.pending.append(version.values)
        seeing = [s for s in (self._sees(g, output, mask) for g in same) if s is not None]
        if not seeing:
            return
        if not all(seeing):
            self.hidden = True
            return
        self.compared += int(mask.sum())
        line = next((g.site for g in reversed(self.given) if g.site is not None), None)
        self.found = {
            "site": version.site,
            "name": version.name,
            "dropped": version.result() is None,
            "model": line,
            "selected": float(mask.float().mean()),
            "values": len(values.unique()),
        }

    def _selection(self, call: Call, target: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor]:
        """The places that a loss compares, by a mask that chose its targets or by those that it passes over."""
        mask = self.selected.of(target)
        if mask is not None:
            return mask, target.detach()
        ignored = call.kwargs.get("ignore_index", -100)
        if call.name not in ("cross_entropy", "nll_loss") or target.is_floating_point():
            return None, target
        flat = target.detach().reshape(-1)
        shapes = [g.values.shape for g in self.given if g.values.numel() == flat.numel()]
        kept = flat != ignored
        return (kept.reshape(shapes[0]), flat[kept]) if shapes else (None, target)

    def _sees(self, given: Given, output: torch.Tensor, mask: torch.Tensor) -> bool | None:
        """Whether what is given out for the first selected place changes with the value there; None where it does not tell."""
        self.busy = True
        try:
            if given.looked_up is not None:
                return reached(output, given.looked_up, mask)
            return changes(*given.forward, mask) if given.forward is not None else None
        except (TypeError, RuntimeError, IndexError, ValueError):
            # A graph or a pass that cannot be walked twice.
            return None
        finally:
            self.busy = False

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        # At the end of the step: a model may be given the version behind the loss of the whole input.
        self.hidden = self.hidden or any(_same(v, g.values) for v in self.pending for g in self.given)
        self.hidden = self.hidden or bool(self.pending and _cover(self.asked))
        self.given, self.versions, self.pending, self.asked = [], [], [], []

    def facts(self) -> dict[str, Any]:
        if self.hidden or self.found is None or self.looks < LEAST_LOOKS:
            return {"left": None}
        return {"left": self.found | {"compared": self.compared, "looks": self.looks}}


def _is_mask(key: Any) -> bool:
    return isinstance(key, torch.Tensor) and key.dtype is torch.bool and key.dim() > 1


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return bool(one.shape == other.shape and one.device == other.device and torch.equal(one, other))


def _cover(places: list[torch.Tensor]) -> bool:
    """Whether masks of one shape take in every place between them."""
    shapes = {p.shape for p in places}
    return any(bool(torch.stack([p for p in places if p.shape == s]).any(0).all()) for s in shapes)


def _holds(chosen: torch.Tensor, values: torch.Tensor) -> bool:
    """Whether the input has at the selected places what the loss compares with."""
    return chosen.numel() == values.numel() and bool((chosen.reshape(-1) == values.reshape(-1)).all())


def _hides(version: Version, given: torch.Tensor, mask: torch.Tensor) -> bool:
    """Whether a version is the input without what stands at the selected places, or most of it."""
    if version.values.shape != given.shape or version.values.device != given.device:
        return False
    differs = version.values != given
    share = differs[mask].reshape(int(mask.sum()), -1).any(1).float().mean()
    return float(share) >= HIDDEN and not bool(differs[~mask].any())
