"""Reductions, in turn, for as long as one of them still makes the program smaller."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from firstcause.minimize.program import Program
from firstcause.minimize.reductions.all_plain import all_plain
from firstcause.minimize.reductions.fewer_arguments import fewer_arguments
from firstcause.minimize.reductions.fewer_calls import fewer_calls
from firstcause.minimize.reductions.fewer_dimensions import fewer_dimensions
from firstcause.minimize.reductions.fewer_given import fewer_given
from firstcause.minimize.reductions.fewer_inner_calls import fewer_inner_calls
from firstcause.minimize.reductions.fewer_values import fewer_values
from firstcause.minimize.reductions.later_start import later_start
from firstcause.minimize.reductions.needed_only import needed_only
from firstcause.minimize.reductions.plain_loss import plain_loss
from firstcause.minimize.reductions.plain_settings import plain_settings
from firstcause.minimize.reductions.plain_values import plain_values
from firstcause.minimize.reductions.smaller_sizes import smaller_sizes
from firstcause.minimize.trial import Trials

# A reduction gives programs that are smaller than the one it is given, the boldest first; it is told which of them failed
# by being sent the program that is to be made smaller from there on.
Reduction = Callable[[Program], Iterator[Program]]
REDUCTIONS: tuple[Reduction, ...] = (
    needed_only,
    all_plain,
    later_start,
    fewer_calls,
    plain_loss,
    fewer_inner_calls,
    fewer_given,
    fewer_arguments,
    plain_settings,
    smaller_sizes,
    fewer_dimensions,
    plain_values,
    fewer_values,
)
ONWARD = (fewer_calls, fewer_inner_calls, fewer_arguments, plain_values)
ROUNDS, BACK = 6, 3
# Tried in one process, one after the other.
TOGETHER = 8


def smallest(program: Program, trials: Trials) -> Program:
    """The smallest program found that fails the same way, within the time of ``trials``."""
    # A formula of which a part is left out is another formula, and wrong in another way.
    formula = trials.failure.what == "derived"
    reductions = [r for r in REDUCTIONS if r is not fewer_inner_calls] if formula else REDUCTIONS
    for _ in range(ROUNDS):
        before = program
        for reduction in reductions:
            program = _reduced(program, reduction, trials)
        if program is before or trials.over():
            break
    return program


def _reduced(program: Program, reduction: Reduction, trials: Trials) -> Program:
    candidates, at = reduction(program), 0
    while not trials.over():
        few = [candidate.used() for candidate in islice(candidates, TOGETHER)]
        if not few:
            break
        found = trials.first(few)
        if found is None:
            at += len(few)
            continue
        program = few[found]
        # Before this place nothing could be left out; what can be now, the next round sees.
        at = max(0, at + found - BACK) if reduction in ONWARD else 0
        candidates = islice(reduction(program), at, None)
    return program
