"""A tape made small and written down: in the sealed process in which it was taken."""

from __future__ import annotations

import os
import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from firstcause.minimize.assembled import Failed, assembled, failed
from firstcause.minimize.dropped import dropped
from firstcause.minimize.failure import Failure
from firstcause.minimize.invariants import INVARIANTS, candidates
from firstcause.minimize.loader import in_collate, loader_lines
from firstcause.minimize.program import Call, Leaf, Program
from firstcause.minimize.smaller import smallest
from firstcause.minimize.statement import statement_of
from firstcause.minimize.trial import RATED, Trials
from firstcause.minimize.writing import Unwritable, written

if TYPE_CHECKING:
    from firstcause.minimize.tape import Tape


INVARIANT = "FIRSTCAUSE_MINIMIZE_INVARIANT"
TRIED = 30.0
WORKERS = "FIRSTCAUSE_MINIMIZE_WORKERS"
BUDGET = "FIRSTCAUSE_MINIMIZE_SECONDS"


def made_small(tape: Tape, parameters: list[Any], error: BaseException | None) -> dict[str, Any]:
    """Lines of the script, calls of the step and calls left, programs tried, rates of failure, and what was left out."""
    found = failed(tape, parameters, error)
    invariant = os.environ.get(INVARIANT, "")
    if invariant:
        silent = _silent(tape, invariant)
        if silent is None:
            return {
                "why": f"its first steps break nothing of the kind: {invariant}",
                "calls": len(tape.calls),
            }
        program, failure = silent
    elif found is not None:
        program, failure = assembled(tape, found)
    else:
        stated = statement_of(error) if error is not None else None
        if stated is None:
            return {"why": "no call of torch failed in the replayed step", "calls": len(tape.calls)}
        program, failure = stated
    tape.held.clear()
    facts: dict[str, Any] = {"calls": max(len(tape.calls), len(program.calls)), "failure": asdict(failure)}
    trials = Trials(failure, time.monotonic() + float(os.environ.get(BUDGET, "40")))
    before = trials.rate(program)
    if before < RATED:
        # What fails by luck is given the numbers that it was unlucky with.
        program = _with_draws(program, tape.drawn)
        if trials.rate(program) < RATED:
            why = f"the step's calls, made again one by one, fail the same way with {before} of {RATED} seeds"
            return facts | {"why": why}
    small = smallest(program, trials)
    facts |= {"left": len(small.calls), "tried": trials.tried, "rates": [before, trials.rate(small), RATED]}
    try:
        workers = int(os.environ.get(WORKERS, "0"))
        collated = found is not None and in_collate(error)
        loaders = [loader_lines(small, workers, first) for first in (False, True)] if collated else []
        scripts = [lines for lines in loaders if lines] or [written(small, failure)]
    except Unwritable as refusal:
        return facts | {"why": str(refusal)}
    return facts | {"scripts": scripts, "collated": collated, "dropped": dropped(program, small)}


def _silent(tape: Tape, invariant: str) -> tuple[Program, Failure] | None:
    """The program up to the first call that breaks the invariant."""
    whole, _ = assembled(tape, Failed(Failure("broken", "", invariant), 0))
    for program in candidates(whole, INVARIANTS[invariant]):
        failure = Failure("broken", program.calls[-1].name, invariant)
        if Trials(failure, time.monotonic() + TRIED).fails(program):
            return program, failure
    return None


def _with_draws(program: Program, drawn: dict[int, Any]) -> Program:
    """With what its calls drew at random as given tensors."""
    leaves, calls = dict(program.leaves), list[Call]()
    for call in program.calls:
        made = [n for n in call.outputs if n is not None]
        if made and all(n in drawn for n in made) and not any(n in leaves for n in made):
            # A dropout is a product with a mask in whose place its result stands: no gradient goes through it.
            leaves |= {n: Leaf(drawn[n]) for n in made}
        else:
            calls.append(call)
    return replace(program, leaves=leaves, calls=tuple(calls)).used()
