"""Which way the step moves what a loss is made of: errors, log-probabilities of data, and those of sampled actions."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.audit import Call, Watcher
from firstcause.lab.derived import SAME_VALUES, Derived
from firstcause.lab.loss_functions import LOSSES

ERRORS = LOSSES | {"poisson_nll_loss", "gaussian_nll_loss", "ctc_loss"}
DRAWN = frozenset({"multinomial", "bernoulli", "normal", "randint", "rand", "randn"})
# What leaves the direction of a log-probability as it is, besides what only moves values about.
ALONG = SAME_VALUES | {"exp", "sum", "mean", "clamp", "add", "radd", "div", "stack", "cat", "truediv"}
MORE = ("mul", "rmul")
# What makes an error of the difference of a prediction and its target, where a program writes its loss by hand.
SIZES = frozenset({"pow", "square", "abs"})
AIM = re.compile(
    r"(^|_)(rewards?|returns?|scores?|payoffs?|gains?|profits?|clicks?|wins?|utility|r|rew|ret)$"
)


class Watch(Watcher):
    """The columns ``error``, ``likelihood`` and ``reward``; with ``settings["reversed"]``, a list of [file, line], signs turn."""

    CALLS = frozenset(
        {"gather", "log_softmax", "logsigmoid", "neg", "sub", "rsub", *ERRORS, *DRAWN, *ALONG, *MORE, *SIZES}
    )

    def start(self) -> None:
        self.turned = frozenset((f, n) for f, n in self.settings.get("reversed") or ())
        # The direction in which a tensor goes with a log-probability, and whether that is one of drawn values.
        self.log: Derived[tuple[int, bool]] = Derived()
        self.table: Derived[bool] = Derived()
        self.drawn: Derived[bool] = Derived()
        self.apart: Derived[bool] = Derived()
        self.seen: dict[tuple[str, int, str], dict[str, Any]] = {}
        self.now: dict[str, list[float]] = {}
        self.lengths: dict[int, int] = {}
        self._wrap_distributions()

    def _wrap_distributions(self) -> None:
        """The methods of ``torch.distributions``: what they draw is drawn, what they give is a log-probability."""
        kinds = {
            c for n in dir(torch.distributions) if isinstance(c := getattr(torch.distributions, n), type)
        }
        for kind in kinds:
            if "log_prob" in vars(kind):
                kind.log_prob = self._log_prob(vars(kind)["log_prob"])  # type: ignore[attr-defined]
            for name in ("sample", "rsample"):
                if name in vars(kind):
                    setattr(kind, name, self._sample(vars(kind)[name]))

    def _sample(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def sample(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            if isinstance(result, torch.Tensor):
                self.drawn.note(result, True)
            return result

        return sample

    def _log_prob(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def log_prob(distribution: Any, value: Any) -> Any:
            result = function(distribution, value)
            if isinstance(result, torch.Tensor) and isinstance(value, torch.Tensor):
                self._probability(result, value)
            return result

        return log_prob

    def _probability(self, result: torch.Tensor, value: torch.Tensor) -> None:
        if not result.requires_grad or value.requires_grad:
            return
        is_drawn = self.drawn.of(value) is not None
        self.log.note(result, (1, is_drawn))
        if not is_drawn:
            self._watch(result, "likelihood", result.detach().float().mean(), None, 1)

    def called(self, call: Call) -> None:
        name, args, result = call.name, call.args, call.result
        if name in DRAWN and isinstance(result, torch.Tensor):
            self.drawn.note(result, True)
        elif name == "log_softmax":
            self.table.note(result, True)
        elif name in ERRORS:
            plain = len(args) > 1 and isinstance(args[1], torch.Tensor) and not args[1].requires_grad
            if plain and isinstance(result, torch.Tensor) and result.requires_grad:
                self._watch(result, "error", result.detach().float().mean(), None, -1)
        elif name in SIZES:
            if args and self.apart.of(args[0]) is not None and (len(args) < 2 or args[1] in (2, 4)):
                self._watch(result, "error", result.detach().float().mean(), None, -1)
        elif name == "gather" and self.table.of(args[0]) is not None and len(args) > 2:
            self._probability(result, args[2])
        elif name in MORE:
            self._weighted(args, result)
        else:
            self._along(name, args, result)

    def _along(self, name: str, args: tuple[Any, ...], result: Any) -> None:
        for known in (self.drawn, self.table, self.apart):
            known.follow(name, args, result)
        if (
            name in ("sub", "rsub")
            and isinstance(result, torch.Tensor)
            and _is_prediction_and_target(args[:2])
        ):
            self.apart.note(result, True)
        if name not in ALONG | {"neg", "sub", "rsub"} or not isinstance(result, torch.Tensor):
            return
        head = args[0] if args else None
        first = self.log.of(head[0] if isinstance(head, list | tuple) and head else head)
        second = self.log.of(args[1]) if len(args) > 1 else None
        what, sign = (first, 1) if first is not None else (second, -1 if name == "sub" else 1)
        if what is not None:
            turned = name in ("neg", "rsub") and first is not None
            self.log.note(result, (what[0] * (-1 if turned else sign), what[1]))

    def _weighted(self, args: tuple[Any, ...], result: Any) -> None:
        """A log-probability of what was drawn, times what speaks for it."""
        for one, weight in (args[:2], args[1::-1]):
            what = self.log.of(one)
            if what is None or not isinstance(result, torch.Tensor):
                continue
            if not isinstance(weight, torch.Tensor):
                self.log.note(result, (what[0] * (-1 if weight < 0 else 1), what[1]))
                if what[1] and one.numel() == 1:
                    self._watch(one, "action", None, torch.as_tensor(float(weight)), what[0])
            elif what[1] and not weight.requires_grad and weight.shape == one.shape:
                self._watch(one, "action", None, weight.detach(), what[0])
            return

    def _watch(
        self, tensor: torch.Tensor, kind: str, value: Any, weight: torch.Tensor | None, sign: int
    ) -> None:
        """Wait for the gradient: along ``sign`` times the weight it makes worse what should become better."""
        site = places.of_frame(sys._getframe(2), columns=True)
        if site is None or not torch.is_grad_enabled():
            return
        if value is not None:
            self.now.setdefault(kind, []).append(float(value))
        key = (site["file"], site["line"])
        found = self.seen.setdefault(
            (*key, kind), {"site": site, "kind": kind, "with": 0, "against": 0, "weight": []}
        )
        names = [n for f in list(places.user_frames(sys._getframe(2)))[:2] for n in f.f_locals]
        found.setdefault("names", sorted(set(map(str, names)))[:60])

        def arrived(gradient: torch.Tensor) -> torch.Tensor | None:
            by = gradient.float() * (weight.float() if weight is not None else 1.0)
            total = float(by.sum()) * sign
            if total:
                found["against" if total > 0 else "with"] += 1
            if weight is not None:
                found["weight"].append(float(weight.float().mean()))
            return -gradient if key in self.turned else None

        tensor.register_hook(arrived)

    def loss(self, value: torch.Tensor) -> None:
        for frame in list(places.user_frames(sys._getframe(1)))[:2]:
            for name, one in list(frame.f_locals.items()):
                figure = self._figure(one) if AIM.search(str(name).lower()) else None
                if figure is not None:
                    self.now.setdefault("reward", []).append(figure)
                    return

    def _figure(self, one: Any) -> float | None:
        """The mean of a tensor, a number, the sum of an episode's list, and of a list that only grows the last entry."""
        if isinstance(one, torch.Tensor):
            plain = not one.requires_grad and one.numel() > 0 and one.dtype != torch.bool
            return float(one.float().mean()) if plain and not one.is_complex() else None
        if isinstance(one, list) and one and all(isinstance(x, int | float) for x in one):
            before = self.lengths.get(id(one), 0)
            self.lengths[id(one)] = len(one)
            return float(one[-1] if 0 < before < len(one) else sum(one))
        return float(one) if isinstance(one, int | float) and not isinstance(one, bool) else None

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        for group in optimizer.param_groups:
            if group.get("maximize"):
                self.seen.setdefault(
                    ("", 0, "maximize"), {"kind": "maximize", "site": None, "with": 0, "against": 0}
                )

    def figures(self) -> dict[str, Any]:
        taken, self.now = self.now, {}
        return {k: sum(v) / len(v) for k, v in taken.items() if k in ("error", "likelihood", "reward")}

    def facts(self) -> dict[str, Any]:
        found = [f | {"weight": _mean(f.get("weight") or [])} for f in self.seen.values()]
        return {"signs": found}


def _is_prediction_and_target(pair: tuple[Any, ...]) -> bool:
    """Whether of two float tensors of more than one value exactly one is trained."""
    tensors = [t for t in pair if isinstance(t, torch.Tensor) and t.is_floating_point() and t.numel() > 1]
    return len(tensors) == 2 and sum(t.requires_grad for t in tensors) == 1


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0
