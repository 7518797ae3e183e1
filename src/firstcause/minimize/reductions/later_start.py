"""Begin later: what the calls left out had made becomes a given tensor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch

from firstcause.minimize.program import Leaf, Program, Running, steps


def later_start(program: Program) -> Iterator[Program]:
    last = len(program.calls) - 1
    at, stride = last, 1
    while at > 0:
        begun = starting_at(program, at)
        if begun is not None:
            yield begun
        at, stride = at - stride, stride * 2


def starting_at(program: Program, at: int) -> Program | None:
    """The program from its call ``at`` on, with the tensors that it needs as they are there."""
    later = program.calls[at:]
    values = values_before(program, at, {n for call in later for n in call.inputs()})
    if values is None:
        return None
    return replace(program, leaves={**program.leaves, **values}, calls=later)


def values_before(program: Program, at: int, wanted: set[int]) -> dict[int, Leaf] | None:
    """The wanted tensors as they are before the call ``at``; nothing where it is not reached."""
    running = Running()
    try:
        for _ in steps(replace(program, calls=program.calls[:at]), running):
            pass
    except Exception:  # noqa: BLE001
        # A candidate that fails before is none.
        return None
    leaves = {}
    for number in wanted & set(running.values):
        value = running.values[number]
        old = program.leaves.get(number)
        if old is not None and old.made is not None:
            leaves[number] = old
            continue
        with torch.no_grad():
            leaves[number] = Leaf(value.detach().clone(), value.requires_grad)
    return leaves
