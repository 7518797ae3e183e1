"""Probabilities that reach a loss which makes probabilities of its input itself; with ``skipped``, logits reach it."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from firstcause.lab import places
from firstcause.lab.derived import Derived

# Each loss with the activation that it applies itself.
LOSSES = {
    "cross_entropy": "softmax",
    "log_softmax": "softmax",
    "binary_cross_entropy_with_logits": "sigmoid",
    "logsigmoid": "sigmoid",
}
ACTIVATIONS = frozenset(LOSSES.values())
SHOWN = 8


class Activations(TorchFunctionMode):
    """Sees them between ``__enter__`` and ``__exit__``; those at the lines of ``skipped`` give their input."""

    def __init__(self, skipped: frozenset[tuple[str, int]] = frozenset()) -> None:
        super().__init__()
        self.skipped = skipped
        self.probabilities: Derived[dict[str, Any]] = Derived()
        self.seen: dict[tuple[str, int, str], dict[str, Any]] = {}
        self.surprise: list[float] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(getattr(func, "__name__", "")).strip("_")
        kwargs = kwargs or {}
        first = args[0] if args else kwargs.get("input")
        if name in LOSSES and isinstance(first, torch.Tensor) and first.requires_grad:
            self._lost(name, first, (*args[1:2], kwargs.get("target"))[0])
        if name in ACTIVATIONS and isinstance(first, torch.Tensor) and first.is_floating_point():
            made = _made(name, sys._getframe(1))
            if made is not None:
                if (made["site"]["file"], made["site"]["line"]) in self.skipped:
                    return first
                result = func(*args, **kwargs)
                self.probabilities.note(result, made)
                return result
        result = func(*args, **kwargs)
        self.probabilities.follow(name, args, result)
        return result

    def _lost(self, name: str, given: torch.Tensor, target: Any) -> None:
        made = self.probabilities.of(given)
        kind = LOSSES[name]
        if made is not None and made["activation"] != kind:
            return
        if made is not None and given.numel():
            self._note(name, given, made)
        if isinstance(target, torch.Tensor) and given.numel():
            try:
                with torch.no_grad():
                    self._measure(kind, given.detach(), target, is_probability=made is not None)
            except (RuntimeError, IndexError):
                # Targets in a form of their own: the loss will say what it thinks of them.
                return

    def _note(self, name: str, given: torch.Tensor, made: dict[str, Any]) -> None:
        where = places.of_frame(sys._getframe(2), columns=True)
        if where is None:
            return
        key = (made["site"]["file"], made["site"]["line"], name)
        found = self.seen.setdefault(
            key, made | {"loss": name, "loss_site": where, "shape": list(given.shape), "times": 0}
        )
        values = given.detach().float()
        low, high = float(values.min()), float(values.max())
        found["times"] += 1
        found["low"], found["high"] = min(found.get("low", low), low), max(found.get("high", high), high)

    def _measure(self, kind: str, given: torch.Tensor, target: torch.Tensor, is_probability: bool) -> None:
        """The mean negative logarithm of the probability that the program itself gives to what happened."""
        given = given.float()
        if kind == "sigmoid":
            p = given if is_probability else given.sigmoid()
            if target.shape != p.shape:
                return
            right = torch.where(target > 0.5, p, 1 - p)
        else:
            p = given if is_probability else given.softmax(1 if given.dim() > 1 else 0)
            if target.is_floating_point() or p.dim() < 2:
                return
            valid = (target >= 0) & (target < p.shape[1])
            right = p.gather(1, target.clamp(0, p.shape[1] - 1).unsqueeze(1)).squeeze(1)[valid]
        if right.numel():
            self.surprise.append(float(-right.clamp_min(1e-12).log().mean()))

    def take_surprise(self) -> float | None:
        """The mean of it since it was last taken; None where no loss was seen."""
        taken, self.surprise = self.surprise, []
        return sum(taken) / len(taken) if taken else None

    def facts(self) -> list[dict[str, Any]]:
        return list(self.seen.values())[:SHOWN]


def _made(name: str, frame: Any) -> dict[str, Any] | None:
    """Where an activation is applied; the class of its module and of the user's one around it, if there are such."""
    module = None
    current = frame
    while current is not None and not places.is_user_file(current.f_code.co_filename):
        owner = current.f_locals.get("self")
        if module is None and isinstance(owner, torch.nn.Module):
            module = type(owner).__name__
        current = current.f_back
    site = places.of_frame(current, columns=True)
    if current is None or site is None:
        return None
    around = current.f_locals.get("self")
    return {
        "activation": name,
        "site": site,
        "module": module,
        "class_name": type(around).__name__ if isinstance(around, torch.nn.Module) else None,
    }
