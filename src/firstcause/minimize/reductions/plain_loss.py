"""Where backward fails: go backward from the sum of an earlier result, the earliest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch

from firstcause.minimize.program import Call, Program, Ref
from firstcause.minimize.reductions.needed_only import needed

FEW = 24


def plain_loss(program: Program) -> Iterator[Program]:
    last = program.calls[-1]
    if not last.name.endswith("backward") or not 2 < len(program.calls) <= FEW:
        return
    (loss, *_) = last.inputs() or [0]
    before = program.calls[:-1]
    fresh = 1 + max([*program.leaves, *(n for call in program.calls for n in call.outputs if n is not None)])
    for at in range(len(before)):
        made = [n for n in before[at].outputs if n is not None and n != loss]
        if made and not before[at].name.endswith("backward"):
            sums = Call(torch.Tensor.sum, "torch.Tensor.sum", (Ref(made[0]),), {}, (fresh,))
            backward = replace(last, args=(Ref(fresh), *last.args[1:]))
            # What was done after it, to weights for one, may be why backward fails.
            for calls in (
                (*before[: at + 1], sums, backward),
                (*before[: at + 1], sums, *before[at + 1 :], backward),
            ):
                for backwards in (False, True):
                    kept = needed(replace(program, calls=calls), backwards)
                    if len(kept) < len(program.calls):
                        yield replace(program, calls=kept)
