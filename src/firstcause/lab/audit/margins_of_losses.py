"""Losses of two trained values that are to differ by a margin: their course as written, and with the two exchanged."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.audit import Call, Watcher
from firstcause.lab.derived import Derived

HINGES = frozenset({"relu", "relu_", "clamp", "clamp_", "clamp_min", "softplus", "logsigmoid"})
# How a loss that takes both values itself is called with the two exchanged.
EXCHANGED = {"triplet_margin_loss": (0, 2, 1), "margin_ranking_loss": (1, 0, 2)}
MARGINS = {"triplet_margin_loss": 1.0, "margin_ranking_loss": 0.0}
# The hardest of many: an untrained network has them on the wrong side, whichever way the loss is written.
CHOOSING = frozenset(
    {"max", "min", "amax", "amin", "argmax", "argmin", "topk", "sort", "argsort", "kthvalue", "masked_fill"}
)
Inputs = Sequence[torch.Tensor]


class Watch(Watcher):
    """The columns ``margin`` and ``margin_exchanged``; with ``settings["exchanged"]``, a list of [file, line], it is learned."""

    CALLS = frozenset({"sub", "rsub", "add", "radd", *HINGES, *EXCHANGED, *CHOOSING})

    def start(self) -> None:
        self.exchanged = frozenset((f, n) for f, n in self.settings.get("exchanged") or ())
        self.sums: Derived[_Sum] = Derived()
        self.now: dict[str, list[float]] = {}
        self.seen: dict[tuple[str, int], dict[str, Any]] = {}
        self.chosen = False

    def called(self, call: Call) -> None:
        name, args, result = call.name, call.args, call.result
        if name in CHOOSING:
            self.chosen = self.chosen or any(isinstance(a, torch.Tensor) and a.dim() > 1 for a in args)
        elif not torch.is_grad_enabled() or not isinstance(result, torch.Tensor):
            return
        elif name in EXCHANGED:
            self._of_three(call)
        elif name in HINGES:
            self._of_difference(call)
        else:
            self._follow(name, args, result)

    def _follow(self, name: str, args: tuple[Any, ...], result: torch.Tensor) -> None:
        """``a + m`` and ``m - a`` keep one value, with its sign and what was added; of two with opposite signs, both go on."""
        one, other = args[:2] if len(args) > 1 else (None, None)
        sign = -1 if name in ("sub", "rsub") else 1
        if isinstance(other, int | float):
            known = self.sums.of(one) or (_Sum() if _is_trained(one) else None)
            if known is not None:
                by = float(other) if name != "sub" else -float(other)
                self.sums.note(result, known.turned(by) if name == "rsub" else known.moved(by))
        elif name in ("sub", "add") and _are_trained(one, other):
            first, second = self.sums.of(one) or _Sum(), self.sums.of(other) or _Sum()
            if not first.both and not second.both and first.sign == -sign * second.sign:
                offset = first.offset + sign * second.offset
                site = places.of_frame(sys._getframe(1), columns=True)
                self.sums.note(result, _Sum(1, offset, True, site))

    def _of_difference(self, call: Call) -> None:
        held = call.args[0] if call.args else None
        known = self.sums.of(held)
        least = call.kwargs.get("min", call.args[1] if len(call.args) > 1 else 0)
        if known is None or not known.both or (call.name.startswith("clamp") and least != 0):
            return
        offset = known.offset

        def exchanged(inputs: Inputs) -> torch.Tensor:
            given: torch.Tensor = call.function(2 * offset - inputs[0], *call.args[1:], **call.kwargs)
            return given

        level = call.function(torch.full((1,), offset), *call.args[1:], **call.kwargs)
        sign = -1.0 if call.name == "logsigmoid" else 1.0
        self._watch(call, [held], exchanged, float(level) * sign, sign, known.site)

    def _of_three(self, call: Call) -> None:
        order = EXCHANGED[call.name]
        if len(call.args) < 3 or not _are_trained(*[call.args[k] for k, n in enumerate(order) if k != n][:2]):
            return
        inputs = [a for a in call.args[:3] if isinstance(a, torch.Tensor) and a.requires_grad]
        places_of = [k for k, a in enumerate(call.args[:3]) if any(a is i for i in inputs)]

        def exchanged(given: Inputs) -> torch.Tensor:
            whole = list(call.args[:3])
            for k, one in zip(places_of, given, strict=True):
                whole[k] = one
            made: torch.Tensor = call.function(*(whole[k] for k in order), *call.args[3:], **call.kwargs)
            return made

        margin = call.args[3] if len(call.args) > 3 else call.kwargs.get("margin", MARGINS[call.name])
        self._watch(call, inputs, exchanged, float(margin), 1.0, None)

    def _watch(
        self,
        call: Call,
        inputs: list[Any],
        exchanged: Callable[[Inputs], torch.Tensor],
        level: float,
        sign: float,
        made: dict[str, Any] | None,
    ) -> None:
        frame = sys._getframe(2)
        site = made or places.of_frame(frame, columns=True)
        if site is None or self.chosen or level <= 0:
            return
        key = (site["file"], site["line"])
        self.seen.setdefault(
            key, {"site": site, "level": level, "function": call.name, "numbers": _numbers(frame)}
        )
        apart = [i.detach().requires_grad_() for i in inputs]
        with torch.enable_grad():
            other = exchanged(apart)
        self.now.setdefault("margin", []).append(sign * float(call.result.detach().float().mean()))
        self.now.setdefault("margin_exchanged", []).append(sign * float(other.detach().float().mean()))
        if key not in self.exchanged:
            return
        turned: list[torch.Tensor] = []

        def arrived(gradient: torch.Tensor) -> None:
            turned[:] = torch.autograd.grad(other, apart, gradient)

        call.result.register_hook(arrived)
        for number, one in enumerate(inputs):
            one.register_hook(lambda gradient, n=number: turned[n] if turned else gradient)

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.chosen = False

    def figures(self) -> dict[str, Any]:
        taken, self.now = self.now, {}
        return {k: sum(v) / len(v) for k, v in taken.items()}

    def facts(self) -> dict[str, Any]:
        return {"margins": list(self.seen.values())}


@dataclass(frozen=True)
class _Sum:
    """A trained value, or the difference of ``both``: with which sign it stands there, what was added, and where."""

    sign: int = 1
    offset: float = 0.0
    both: bool = False
    site: dict[str, Any] | None = None

    def moved(self, by: float) -> _Sum:
        return replace(self, offset=self.offset + by)

    def turned(self, by: float) -> _Sum:
        return replace(self, sign=-self.sign, offset=by - self.offset)


def _numbers(frame: Any) -> list[str]:
    """The names of the user's function that hold plain numbers, and the attributes of its object that do."""
    user = next(iter(places.user_frames(frame)), None)
    if user is None:
        return []
    names = [n for n, v in user.f_locals.items() if isinstance(v, int | float)]
    own = getattr(user.f_locals.get("self"), "__dict__", {})
    return sorted([*names, *(f"self.{n}" for n, v in own.items() if isinstance(v, int | float))])[:60]


def _is_trained(one: Any) -> bool:
    return isinstance(one, torch.Tensor) and one.requires_grad and one.numel() > 1


def _are_trained(one: Any, other: Any) -> bool:
    pair = [t for t in (one, other) if isinstance(t, torch.Tensor) and t.requires_grad]
    return len(pair) == 2 and pair[0].shape == pair[1].shape and pair[0].numel() > 1
