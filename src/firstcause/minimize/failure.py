"""What it means to fail the same way: the same error of the same call, or a bad value of the same kind made by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from firstcause.minimize.invariants import INVARIANTS
from firstcause.minimize.program import Call, Program, Running, steps
from firstcause.minimize.said import plainly

MASKING = ("masked_fill", "where", "full", "empty", "__setitem__", "fill_", "torch.tensor")


@dataclass(frozen=True)
class Failure:
    """How a program fails.

    ``kind``: raised, made (a call's result holds a bad value, its inputs none), gradient (all that forward made is finite),
    or broken (an invariant of ``invariants``).
    ``what``: the exception's type, or nan, inf. ``said``: its message with every number replaced by N.
    """

    kind: str
    call: str
    what: str
    said: str = ""


def raised(call: str, error: BaseException) -> Failure:
    return Failure("raised", call, type(error).__name__, plainly(str(error)))


def badness(tensors: list[Any]) -> str:
    """ "nan", "inf", or nothing."""
    held = [
        t.detach()
        for t in tensors
        if isinstance(t, torch.Tensor) and t.is_floating_point() and t.device.type != "meta"
    ]
    if any(bool(torch.isnan(t).any()) for t in held):
        return "nan"
    return "inf" if any(bool(torch.isinf(t).any()) for t in held) else ""


def born(call: Call, made: list[Any], given: list[Any]) -> str:
    """The kind of a bad value that this call makes of better ones, and that nobody put there; else nothing."""
    if call.name.endswith("__get__"):
        return ""
    bad, before = badness(made), badness(given)
    if not worse(bad, before) or (bad == "inf" and _meant(call)) or (not before and _meant(call)):
        return ""
    return bad


def outcome(program: Program, invariant: str = "") -> Failure | None:
    """How a program fails when it is run here; nothing where it comes to its end with good values.

    ``invariant``: the name of what its last call is to break, where it fails without a word.
    """
    running = Running()
    if invariant:
        return _silently(program, running, invariant)
    try:
        for call, result in steps(program, running):
            bad = born(call, tree_leaves(result), running.given)
            if bad:
                return Failure("made", call.name, bad)
    except Exception as error:  # noqa: BLE001
        return raised(program.calls[running.at].name, error)
    if badness([leaf.value for leaf in program.leaves.values()]):
        return None
    grads = [running.values[n].grad for n, leaf in program.leaves.items() if leaf.trained]
    bad = badness([g for g in grads if g is not None])
    return Failure("gradient", program.calls[-1].name, bad) if bad else None


def _silently(program: Program, running: Running, invariant: str) -> Failure | None:
    looked_at, last = INVARIANTS[invariant], program.calls[-1]
    try:
        results = [result for _, result in steps(program, running)]
        if not looked_at.call(last) or not looked_at.broken(program, running, results[-1]):
            return None
    except Exception:  # noqa: BLE001
        # Whatever is loud is another failure.
        return None
    return Failure("broken", last.name, invariant)


def worse(now: str, before: str) -> bool:
    return ("", "inf", "nan").index(now) > ("", "inf", "nan").index(before)


def _meant(call: Call) -> bool:
    """Whether the bad value was put there: a mask of -inf is no failure."""
    if any(word in call.name for word in MASKING):
        return True
    return any(isinstance(x, float) and abs(x) == float("inf") for x in tree_leaves((call.args, call.kwargs)))
