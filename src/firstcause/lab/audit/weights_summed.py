"""What is normalised along one axis, by a softmax or to length 1, and added up along another.

The weights of a softmax sum to 1 along its axis, and the squares of what has length 1. ``settings["axes"]``, a list of
[file, line, column, function, axis], has what is normalised there work along that axis.
"""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from firstcause.lab import places
from firstcause.lab.audit import Watcher
from firstcause.lab.derived import SAME_VALUES, Derived

# Where each takes its axis, and the axis where none is given; a length is divided by.
AXES = {"softmax": (1, None), "log_softmax": (1, None), "normalize": (2, 1), "norm": (2, None)}
SOFTMAXES = ("softmax", "log_softmax")
LENGTHS = (2, 2.0, "fro", None)
PRODUCTS = ("matmul", "bmm", "rmatmul")
# Where a logarithm meets the distribution that it is compared with.
COMPARISONS = ("kl_div", "mul", "rmul")
CLOSE = 1e-2
# Each softmax is looked at this many times in training: what is done with it does not change from step to step.
TIMES = 6
# The file, line and column of a normalisation, and its function.
Key = tuple[str, int, int | None, str]


class Weights:
    """The output of one softmax in the form that it has got since, and for each of its axes the index along it."""

    def __init__(self, made: dict[str, Any], value: torch.Tensor) -> None:
        self.made, self.value = made, value
        shape = value.shape
        self.index = [
            torch.arange(n, device=value.device)
            .view([-1 if i == axis else 1 for i in range(len(shape))])
            .expand(shape)
            for axis, n in enumerate(shape)
        ]

    def moved(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Weights:
        found = object.__new__(Weights)
        found.made = self.made
        found.value = function(self.value, *args[1:], **kwargs)
        found.index = [function(x, *args[1:], **kwargs) for x in self.index]
        return found


class Softmaxes(TorchFunctionMode):
    """Sees softmaxes and sums of what they weigh between ``__enter__`` and ``__exit__``. Sealed child only."""

    def __init__(self, axes: dict[Key, int]) -> None:
        super().__init__()
        self.axes = axes
        self.known: Derived[Weights] = Derived()
        # A product of weights and values, which a sum will add up.
        self.products: Derived[Weights] = Derived()
        # What a trained distribution may be compared with: softmaxes without a gradient, as a teacher's.
        self.fixed: Derived[Weights] = Derived()
        # Lengths, by which their own values may be divided.
        self.lengths: Derived[dict[str, Any]] = Derived()
        self.seen: dict[Key, dict[str, Any]] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = str(getattr(func, "__name__", "")).strip("_"), kwargs or {}
        if name in AXES:
            return self._normalised(name, func, args, kwargs)
        result = func(*args, **kwargs)
        known = self.known.known or self.lengths.known
        if known and torch.is_grad_enabled() and isinstance(result, torch.Tensor):
            try:
                with torch.no_grad():
                    self._used(name, func, args, kwargs, result)
            except (RuntimeError, IndexError, TypeError, ValueError):
                # A form of the call that is not followed: the program's own has succeeded, and what it made is unknown here.
                self.known.known.pop(id(result), None)
        return result

    def _normalised(self, name: str, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        site = places.of_frame(sys._getframe(2), columns=True)
        place, usual = AXES[name]
        axis = kwargs.get("dim", args[place] if len(args) > place else usual)
        given = args[0] if args else kwargs.get("input")
        length = name not in SOFTMAXES
        if (
            site is None
            or not isinstance(axis, int)
            or not isinstance(given, torch.Tensor)
            or given.dim() < 2
            or (length and kwargs.get("p", args[1] if len(args) > 1 else None) not in LENGTHS)
            or (name == "norm" and not kwargs.get("keepdim", len(args) > 3 and args[3]))
        ):
            return func(*args, **kwargs)
        # Two that are compared often stand on one line.
        key = (site["file"], site["line"], site.get("column"), name)
        if key in self.axes:
            kwargs = {k: v for k, v in kwargs.items() if k != "dim"} | {"dim": self.axes[key]}
            args = args[:place]
        result = func(*args, **kwargs)
        made = self.seen.setdefault(
            key,
            {
                "site": site,
                "function": name,
                "axis": axis % given.dim(),
                "shape": list(given.shape),
                "uses": [],
                "times": 0,
                "evaluated": 0,
                "alone": 0,
            },
        )
        if not torch.is_grad_enabled():
            # Decoding step by step, or one sample at a time, may leave an axis that is long in training with one element.
            made["evaluated"] += 1
            made["alone"] += int(given.shape[axis] == 1)
        # A weight that has length 1 along its own axis is no sample.
        if (given.grad_fn is not None if length else given.requires_grad) and made["times"] < TIMES:
            # What an evaluation before the first step was given has other sizes.
            made["shape"] = list(given.shape) if not made["times"] else made["shape"]
            made["times"] += 1
            if name == "norm":
                self.lengths.note(result, made)
            else:
                self.known.note(result, Weights(made, _shares(name, result.detach())))
        elif not length:
            self.fixed.note(result, Weights(made, _shares(name, result.detach())))
        return result

    def _used(self, name: str, func: Any, args: Any, kwargs: dict[str, Any], result: torch.Tensor) -> None:
        by = self.lengths.of(args[1]) if name in ("div", "truediv") and len(args) > 1 else None
        if by is not None:
            self.known.note(result, Weights(by, _shares("norm", result.detach())))
            return
        if name in ("clamp", "clamp_min", "add", "maximum") and (by := self.lengths.of(args[0])) is not None:
            self.lengths.note(result, by)
            return
        if name == "einsum" and isinstance(args[0], str):
            self._einsum(args[0], args[1:])
            return
        if name in COMPARISONS and len(args) > 1:
            self._compared(name, args, kwargs)
        if name == "nll_loss" or name == "gather":
            weights = self.known.of(args[0])
            if weights is not None and weights.value.dim() > 1:
                axis = 1 if name == "nll_loss" else int(kwargs.get("dim", args[1] if len(args) > 1 else -1))
                alone = name == "nll_loss" or args[-1].shape[axis] == 1
                self._summed(name, weights, axis) if alone else None
            return
        for place, one in enumerate(args[:2]):
            weights = self.known.of(one)
            if weights is None:
                continue
            if name in SAME_VALUES:
                self.known.note(result, weights.moved(func, args, kwargs))
            elif (
                name in ("dropout", "log", "div", "truediv", "add", "clamp")
                and place == 0
                and result.shape == weights.value.shape
            ):
                # Division by a sum of their own makes other weights of them; what is left is compared by value.
                if name in ("div", "truediv") and isinstance(args[1], torch.Tensor):
                    return
                self.known.note(result, weights)
            elif name in PRODUCTS and isinstance(args[1 - place], torch.Tensor):
                first = (place == 0) != (name == "rmatmul")
                if first or weights.value.dim() > 1:
                    self._summed(name, weights, -1 if first else -2)
            elif name in ("mul", "rmul") and isinstance(args[1 - place], torch.Tensor):
                index = (
                    [x.expand(result.shape) for x in weights.index]
                    if weights.value.dim() <= result.dim()
                    else []
                )
                if index:
                    product = object.__new__(Weights)
                    product.made, product.value, product.index = (
                        weights.made,
                        weights.value.expand(result.shape),
                        index,
                    )
                    self.products.note(result, product)
            return
        weights = self.products.of(args[0]) if args else None
        along = kwargs.get("dim", args[1] if len(args) > 1 else None)
        if name == "sum" and weights is not None and isinstance(along, int):
            self._summed(name, weights, along)

    def _compared(self, name: str, args: Any, kwargs: dict[str, Any]) -> None:
        """A distribution and its logarithm's weights: both are to sum to 1 along one and the same axis."""
        for one, other in ((args[0], args[1]), (args[1], args[0]))[: 1 if name == "kl_div" else 2]:
            logs = self.known.of(one)
            if logs is None or not isinstance(other, torch.Tensor) or other.shape != logs.value.shape:
                continue
            fixed = self.fixed.of(other)
            # In a product only a teacher's shares are meant as a target: others are weights of classes, or of samples.
            if name != "kl_div" and (
                fixed is None or logs.made["axis"] != 0 or not bool((one.detach() <= 0).all())
            ):
                continue
            target = other.detach().exp() if kwargs.get("log_target") else other.detach()
            wholes = _wholes(target)
            own = _along(logs)
            if not wholes or own is None:
                continue
            # Samples that compete with each other are not what the other side is to be brought to.
            if own not in wholes and fixed is not None and fixed.made["axis"] == 0 and logs.made["axis"] != 0:
                self._summed(name, fixed, own)
            else:
                self._summed(name, logs, own if own in wholes else wholes[-1])
            return

    def _einsum(self, equation: str, operands: Any) -> None:
        if len(operands) == 1 and isinstance(operands[0], list | tuple):
            operands = operands[0]
        left, _, right = equation.replace(" ", "").partition("->")
        for letters, operand in zip(left.split(","), operands, strict=False):
            weights = self.known.of(operand)
            gone = [i for i, letter in enumerate(letters) if letter not in right]
            if weights is not None and len(gone) == 1 and right and "." not in equation:
                self._summed("einsum", weights, gone[0])

    def _summed(self, name: str, weights: Weights, axis: int) -> None:
        """What the weights that are added up sum to, and which axis of the softmax's output runs along there."""
        sums = weights.value.float().sum(axis)
        own = [
            i
            for i, x in enumerate(weights.index)
            if x.shape[axis] > 1 and bool((x.select(axis, 0) != x.select(axis, 1)).all())
        ]
        where = places.of_frame(sys._getframe(3), columns=True)
        if len(own) != 1 or not bool(torch.isfinite(sums).all()) or where is None:
            return
        low, high = float(sums.min()), float(sums.max())
        use = {"function": name, "site": where, "axis": own[0], "low": low, "high": high}
        use["whole"] = abs(low - 1) <= CLOSE and abs(high - 1) <= CLOSE
        weights.made["uses"].append(use)


def _wholes(value: torch.Tensor) -> list[int]:
    """The axes of more than one element along which a tensor of shares sums to 1."""
    if not value.is_floating_point() or not bool((value >= 0).all()):
        return []
    axes = [i for i, n in enumerate(value.shape) if n > 1]
    return [i for i in axes if bool(((value.float().sum(i) - 1).abs() <= CLOSE).all())]


def _along(weights: Weights) -> int | None:
    """The axis of the form that the weights have now which is the one that they sum to 1 along."""
    index = weights.index[weights.made["axis"]]
    axes = [
        i
        for i, n in enumerate(index.shape)
        if n > 1 and bool((index.select(i, 0) != index.select(i, 1)).all())
    ]
    return axes[0] if len(axes) == 1 else None


def _shares(name: str, value: torch.Tensor) -> torch.Tensor:
    """What sums to 1 along the axis of a normalisation, from its output."""
    if name == "log_softmax":
        return value.exp()
    return value if name in SOFTMAXES else value.square()


class Watch(Watcher):
    """In the facts ``softmaxes``: each normalisation with its axis and what was done with its output."""

    def start(self) -> None:
        axes = {(f, n, c, name): int(a) for f, n, c, name, a in self.settings.get("axes") or ()}
        self.softmaxes = Softmaxes(axes)
        self.softmaxes.__enter__()

    def facts(self) -> dict[str, Any]:
        return {"softmaxes": list(self.softmaxes.seen.values())}
