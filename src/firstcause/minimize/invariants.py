"""What holds in a training that is well, and is broken by one that fails without a word: looked for on its tape."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from firstcause.minimize.program import Call, Program, Ref, Running, is_ref, steps
from firstcause.minimize.regions import Custom

Broken = Callable[[Program, Running, Any], bool]
PAIRED = ("sub", "rsub", "__rsub__", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "sub_")
CLOSE = 1e-4
# Numbers up to which a Function's whole Jacobian is compared; beyond them one direction, over this step, to this share.
WHOLE_JACOBIAN = 64
STEP, ALONG = 1e-6, 1e-3


@dataclass(frozen=True)
class Invariant:
    """``broken`` by the last call of a program that has run; ``asserted`` says so in a script, of the names of its tensors."""

    name: str
    call: Callable[[Call], bool]
    broken: Broken
    asserted: Callable[[Program, dict[int, str]], str]


def _tensors(call: Call) -> list[int]:
    return [x.number for x in tree_leaves((call.args, call.kwargs), is_leaf=is_ref) if isinstance(x, Ref)]


def _short(call: Call) -> str:
    return call.name.rpartition(".")[2]


def _stretched(program: Program, running: Running, result: Any) -> bool:
    """Two tensors of which each is repeated along the other."""
    numbers = _tensors(program.calls[-1])
    if len(numbers) != 2:
        return False
    shapes = [running.values[n].shape for n in numbers]
    both = torch.broadcast_shapes(*shapes).numel()
    return both > max(s.numel() for s in shapes) and len(shapes[0]) != len(shapes[1])


def _shapes(program: Program, names: dict[int, str]) -> str:
    one, other = (names[n] for n in _tensors(program.calls[-1])[:2])
    return f"assert {one}.shape == {other}.shape, ({one}.shape, {other}.shape)"


def _normalised(program: Program, running: Running, result: Any) -> bool:
    """A cross entropy of what a call has made a distribution already."""
    number = _tensors(program.calls[-1])[0]
    x = running.values[number]
    if number in program.leaves or x.dim() < 2 or not bool((x >= 0).all()):
        return False
    return x.shape[1] > 1 and bool(((x.sum(1) - 1).abs() < CLOSE).all())


def _logits(program: Program, names: dict[int, str]) -> str:
    x = names[_tensors(program.calls[-1])[0]]
    return f"assert not torch.allclose({x}.sum(1), torch.ones(1)), {x}.sum(1)"


def _unreached(program: Program, running: Running, result: Any) -> bool:
    return bool(_without_gradient(program, running))


def _without_gradient(program: Program, running: Running) -> list[int]:
    """Leaves to be trained that the loss is made of, and that no gradient reaches."""
    wanted = set(_tensors(program.calls[-1])[:1])
    for call in reversed(program.calls[:-1]):
        if wanted & set(call.outputs):
            wanted |= set(call.inputs())
    trained = [n for n in program.leaves if program.leaves[n].trained and n in wanted]
    return [n for n in trained if running.values[n].grad is None]


def _reached(program: Program, names: dict[int, str]) -> str:
    running = Running()
    for _ in steps(program, running):
        pass
    trained = [names[n] for n in _without_gradient(program, running) if n in names]
    return "assert " + " and ".join(f"{n}.grad is not None" for n in trained)


def _silenced(program: Program, running: Running, result: Any) -> bool:
    """A rectifier that gives nothing but zeros, of what a call has made."""
    if any(n in program.leaves for n in _tensors(program.calls[-1])):
        return False
    return isinstance(result, torch.Tensor) and result.numel() > 0 and not bool(result.any())


def _alive(program: Program, names: dict[int, str]) -> str:
    out = next(names[n] for n in program.calls[-1].outputs if n in names)
    return f"assert ({out} > 0).any(), {out}"


def _underived(program: Program, running: Running, result: Any) -> bool:
    call = program.calls[-1]
    function = call.function
    if not isinstance(function, Custom):
        return False
    inputs = [running.values[x.number] if isinstance(x, Ref) else x for x in call.args]
    doubled = tuple(
        x.detach().double().requires_grad_() if isinstance(x, torch.Tensor) and x.is_floating_point() else x
        for x in inputs
    )
    numbers = sum(x.numel() for x in doubled if isinstance(x, torch.Tensor))
    if numbers > WHOLE_JACOBIAN:
        return _is_off_along_a_line(function, doubled)
    return not torch.autograd.gradcheck(function, doubled, raise_exception=False)


def _is_off_along_a_line(function: Custom, inputs: tuple[Any, ...]) -> bool:
    """Whether one directional derivative differs from a central difference: the whole Jacobian takes two calls a number.

    ``gradcheck``'s fast mode allows an error that grows with the size, within which a wrong formula passes.
    """
    draw = torch.Generator().manual_seed(0)
    places = [n for n, x in enumerate(inputs) if isinstance(x, torch.Tensor) and x.requires_grad]
    along = {n: torch.randn(inputs[n].shape, generator=draw, dtype=torch.float64) for n in places}
    weights: list[torch.Tensor] = []

    def weighed(shift: float) -> torch.Tensor:
        moved = [x + shift * along[n] if n in along else x for n, x in enumerate(inputs)]
        made = [x for x in tree_leaves(function(*moved)) if isinstance(x, torch.Tensor) and x.requires_grad]
        for x in made[len(weights) :]:
            weights.append(torch.randn(x.shape, generator=draw, dtype=torch.float64))
        return torch.stack([(x * w).sum() for x, w in zip(made, weights, strict=True)]).sum()

    given = torch.autograd.grad(weighed(0.0), [inputs[n] for n in places], allow_unused=True)
    told = sum(float((g * along[n]).sum()) for n, g in zip(places, given, strict=True) if g is not None)
    seen = float(weighed(STEP) - weighed(-STEP)) / (2 * STEP)
    return not math.isclose(told, seen, rel_tol=ALONG, abs_tol=ALONG)


def _derived(program: Program, names: dict[int, str]) -> str:
    call = program.calls[-1]
    values = [
        f"{names[x.number]}.detach().double().requires_grad_()" if isinstance(x, Ref) else repr(x)
        for x in call.args
    ]
    return f"assert torch.autograd.gradcheck({call.name}, ({', '.join(values)}{',' if len(values) == 1 else ''}))"


INVARIANTS = {
    i.name: i
    for i in (
        Invariant("shapes", lambda call: _short(call) in PAIRED, _stretched, _shapes),
        Invariant("logits", lambda call: _short(call) == "cross_entropy", _normalised, _logits),
        Invariant("reached", lambda call: call.name.endswith("backward"), _unreached, _reached),
        Invariant("alive", lambda call: _short(call) in ("relu", "relu_"), _silenced, _alive),
        Invariant("derived", lambda call: isinstance(call.function, Custom), _underived, _derived),
    )
}


def candidates(program: Program, invariant: Invariant) -> Iterator[Program]:
    """The program up to each call that the invariant is about."""
    for n, call in enumerate(program.calls):
        if invariant.call(call):
            yield replace(program, calls=program.calls[: n + 1]).used()
