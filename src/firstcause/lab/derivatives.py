"""The derivative that a custom function's backward gives, beside the numerical one of its forward, element by element."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from firstcause.lab.derivative_forms import form

# Elements of each input that are looked at, drawn at random.
ELEMENTS = 48
# Central differences in float64; where the two steps disagree the function has a kink.
STEPS = (1e-5, 1e-6)
SMOOTH, AGREES, NOTHING = 1e-3, 1e-2, 1e-7
# An input larger than this is cut to its first rows: a difference costs two calls.
LARGEST = 20_000
WRONG_SHARE = 0.1


@dataclass(frozen=True)
class Compared:
    """One input: what was found (agrees, surrogate, scaled, wrong, unknown), and pairs of numerical and given derivatives.

    ``form`` says what makes a wrong one of the right one, where that is one thing; ``at`` where in the input the pairs stand.
    """

    position: int
    verdict: str
    pairs: tuple[tuple[float, float], ...]
    form: str = ""
    at: tuple[int, ...] = ()


def compared(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Compared]:
    """Each input of floating point that had a gradient, in float64; raises what the function raises there."""
    wide = [_wide(a) for a in _cut(args)]
    found = []
    for position, value in enumerate(wide):
        if isinstance(value, torch.Tensor) and value.is_floating_point() and _is_trained(args[position]):
            found.append(_one(function, wide, kwargs, position))
    if any(c.verdict == "surrogate" for c in found):
        # A function with a made-up slope for one input, such as a quantised layer, approximates the others on purpose.
        return [replace(c, verdict="surrogate") if c.verdict == "wrong" else c for c in found]
    return [replace(c, form=form(c, found)) if c.verdict == "wrong" else c for c in found]


def by_layout(function: Any, args: Sequence[Any], kwargs: dict[str, Any], position: int) -> list[list[float]]:
    """What the backward gives for one incoming gradient in two layouts, where that differs: pairs, contiguous first.

    Both gradients have the same values; the second one lies in memory with a gap after each element.
    """
    wide = [_wide(a) for a in _cut(args)]
    start = wide[position].clone().requires_grad_()

    def given(spread: bool) -> torch.Tensor:
        torch.manual_seed(0)
        with torch.enable_grad():
            outputs = _outputs(function, [*wide[:position], start, *wide[position + 1 :]], kwargs)
            generator = torch.Generator().manual_seed(1)
            weights = [torch.randn(o.shape, generator=generator, dtype=o.dtype) for o in outputs]
            if spread:
                weights = [torch.stack([w, torch.full_like(w, 7.0)], -1)[..., 0] for w in weights]
            (found,) = torch.autograd.grad(outputs, start, weights, allow_unused=True)
        return torch.zeros_like(start) if found is None else found

    one, other = given(False).reshape(-1), given(True).reshape(-1)
    apart = (one - other).abs() > AGREES * one.abs().max().clamp(min=NOTHING)
    return [[float(one[n]), float(other[n])] for n in apart.nonzero().reshape(-1)[:4].tolist()]


def second(function: Any, args: Sequence[Any], kwargs: dict[str, Any], position: int) -> list[list[float]]:
    """The derivative of the backward itself, numerical and as given, where these differ: pairs; empty where they agree.

    Raises what the function raises when it is derived twice.
    """
    wide = [_wide(a) for a in _cut(args)]
    x, generator = wide[position], torch.Generator().manual_seed(0)
    weights: list[torch.Tensor] = []

    def slope(at: torch.Tensor, graph: bool) -> torch.Tensor:
        torch.manual_seed(0)
        with torch.enable_grad():
            start = at if graph else at.clone().requires_grad_()
            outputs = _outputs(function, [*wide[:position], start, *wide[position + 1 :]], kwargs)
            if not weights:
                shapes = [*(o.shape for o in outputs), start.shape]
                weights.extend(torch.randn(s, generator=generator, dtype=x.dtype) for s in shapes)
            (first,) = torch.autograd.grad(outputs, start, weights[:-1], create_graph=True)
            return (first * weights[-1]).sum()

    start = x.clone().requires_grad_()
    value = slope(start, True)
    given = torch.autograd.grad(value, start, allow_unused=True)[0] if value.requires_grad else None
    given = torch.zeros_like(x) if given is None else given
    chosen = torch.randperm(x.numel(), generator=generator)[:ELEMENTS].tolist()
    pairs = []
    for place in chosen:
        slopes = [_slope(lambda at: slope(at, False).detach(), x, place, step) for step in STEPS]
        if math.isclose(*slopes, rel_tol=SMOOTH, abs_tol=SMOOTH):
            pairs.append((slopes[0], float(given.reshape(-1)[place])))
    scale = max((abs(n) for n, _ in pairs), default=0.0)
    wrong = [[n, g] for n, g in pairs if abs(n - g) > AGREES * max(scale, NOTHING)]
    return wrong if len(wrong) >= max(1, WRONG_SHARE * len(pairs)) else []


def written(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[int, list[list[float]]]:
    """The inputs whose values the backward changes, by their place: pairs of a value before it and after it."""
    mine = [_wide(a).requires_grad_(_is_trained(a)) if _is_float(a) else a for a in _cut(args)]
    with torch.enable_grad():
        # A leaf may not be written in place by a forward; what follows it may.
        given = [a.view_as(a) if _is_float(a) and a.requires_grad else a for a in mine]
        outputs = _outputs(function, given, kwargs)
        before = {n: a.detach().clone() for n, a in enumerate(given) if _is_float(a)}
        torch.autograd.backward([o.sum() for o in outputs if o.requires_grad])
    found = {}
    for number, old in before.items():
        now = given[number].detach()
        apart = (old != now).reshape(-1).nonzero().reshape(-1)[:4].tolist()
        if apart:
            found[number] = [[float(old.reshape(-1)[n]), float(now.reshape(-1)[n])] for n in apart]
    return found


def _is_trained(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def _cut(args: Sequence[Any]) -> list[Any]:
    tensors = [a for a in args if isinstance(a, torch.Tensor) and a.dim()]
    largest = max((t.numel() for t in tensors), default=0)
    rows = {t.shape[0] for t in tensors if t.dim() > 1}
    if largest <= LARGEST or len(rows) != 1:
        return list(args)
    (count,) = rows
    keep = max(2, count * LARGEST // largest)
    return [a[:keep] if isinstance(a, torch.Tensor) and a.dim() and a.shape[0] == count else a for a in args]


def _wide(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        value = value.detach()
        return value.double().clone() if value.is_floating_point() else value
    return value


def _one(function: Any, args: list[Any], kwargs: dict[str, Any], position: int) -> Compared:
    generator = torch.Generator().manual_seed(0)
    x = args[position]
    weights: list[torch.Tensor] = []

    def value(at: torch.Tensor) -> torch.Tensor:
        # Dropout and the like draw the same numbers each time.
        torch.manual_seed(0)
        outputs = _outputs(function, [*args[:position], at, *args[position + 1 :]], kwargs)
        if not weights:
            weights.extend(torch.randn(o.shape, generator=generator, dtype=torch.float64) for o in outputs)
        return torch.stack([(o.double() * w).sum() for o, w in zip(outputs, weights, strict=True)]).sum()

    start = x.clone().requires_grad_()
    kept = [a.clone() if isinstance(a, torch.Tensor) else a for a in args]
    with torch.enable_grad():
        (given,) = torch.autograd.grad(value(start), start, allow_unused=True)
    # A backward may have written into what it was given.
    args = kept
    given = torch.zeros_like(x) if given is None else given
    flat = x.reshape(-1)
    chosen = torch.randperm(flat.numel(), generator=generator)[:ELEMENTS].tolist()
    pairs, at = [], []
    with torch.no_grad():
        for place in chosen:
            slopes = [_slope(value, x, place, step) for step in STEPS]
            if math.isclose(*slopes, rel_tol=SMOOTH, abs_tol=SMOOTH):
                pairs.append((slopes[0], float(given.reshape(-1)[place])))
                at.append(place)
        same = function.apply(*args[:position], x, *args[position + 1 :], **kwargs)
    is_identity = isinstance(same, torch.Tensor) and same.shape == x.shape and bool(torch.equal(same, x))
    return Compared(position, _verdict(pairs, is_identity), tuple(pairs), at=tuple(at))


def _slope(value: Any, x: torch.Tensor, place: int, step: float) -> float:
    there, back = x.clone(), x.clone()
    there.reshape(-1)[place] += step
    back.reshape(-1)[place] -= step
    return float(value(there) - value(back)) / (2 * step)


def _outputs(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """What the forward gives that has a derivative."""
    given = function.apply(*args, **kwargs)
    return [o for o in (given if isinstance(given, tuple) else (given,)) if _is_float(o)]


def _is_float(output: Any) -> bool:
    return isinstance(output, torch.Tensor) and output.is_floating_point()


def _verdict(pairs: list[tuple[float, float]], is_identity: bool) -> str:
    scale = max((abs(n) for n, _ in pairs), default=0.0)
    both = [(n, g) for n, g in pairs if abs(n) > NOTHING * max(scale, 1.0) and g != 0]
    if len(both) < 4:
        # Flat or cut off where it was looked at, as a step with a made-up slope is.
        return "surrogate" if any(g for _, g in pairs) else "unknown"
    ratios = sorted(g / n for n, g in both)
    middle = ratios[len(ratios) // 2]
    apart = [r for r in ratios if not math.isclose(r, middle, rel_tol=AGREES)]
    off = [r for r in ratios if not math.isclose(r, 1.0, rel_tol=AGREES)]
    if len(off) < WRONG_SHARE * len(both):
        least = NOTHING * max(scale, 1.0)
        return "agrees" if all((abs(n) > least) == (g != 0) for n, g in pairs) else "surrogate"
    # The identity with another slope reverses or scales gradients on purpose.
    return "scaled" if not apart and is_identity else "wrong"
