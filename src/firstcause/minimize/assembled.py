"""The program of a tape up to the call that failed, with the blocks and Functions that backward enters as one call each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from firstcause.minimize.failure import Failure, badness, raised
from firstcause.minimize.inside import Entered
from firstcause.minimize.program import Call, Program, Ref
from firstcause.minimize.reductions.needed_only import needed
from firstcause.minimize.regions import Checkpointed, Custom

if TYPE_CHECKING:
    from firstcause.minimize.tape import Tape


@dataclass(frozen=True)
class Failed:
    """The failure of a tape, and the place of its call."""

    failure: Failure
    at: int


def failed(tape: Tape, parameters: list[Any], error: BaseException | None) -> Failed | None:
    """What of the tape failed: the call that raised ``error``, the first bad value on the way to the loss, or a gradient."""
    mine = [at for one, at in tape.raised if _leads_to(error, one)]
    if mine:
        # The outermost call, which may be a backward that raised in what it entered, was put down last.
        at = mine[-1]
        one = next(e for e, n in reversed(tape.raised) if n == at)
        return Failed(raised(tape.calls[at].name, one), at)
    if error is not None:
        return None
    backward = [n for n, call in enumerate(tape.calls) if call.name.endswith("backward")]
    reached = _behind(tape, backward[-1]) if backward else set(range(len(tape.calls)))
    outside = [(at, birth) for at, birth in tape.births if not tape.places[at] or not tape.places[at][1]]  # type: ignore[index]
    for at, birth in [b for b in outside if b[0] in reached] or outside[:1]:
        return Failed(birth, at)
    # Forward was finite and nothing raised: what backward made of it.
    bad = badness([p.grad for p in parameters if p.grad is not None])
    if not backward or not bad:
        return None
    return Failed(Failure("gradient", tape.calls[backward[-1]].name, bad), backward[-1])


def assembled(tape: Tape, failed: Failed) -> tuple[Program, Failure]:
    """The program up to the failing call; a call that raised something that the program caught is left out."""
    if failed.failure.kind == "broken":
        failed = replace(failed, at=len(tape.calls) - 1)
    caught = {at for _, at in tape.raised} - {failed.at}
    entered = failed.failure.call.endswith(("backward", "grad")) and failed.failure.kind != "made"
    entered = entered or failed.failure.what == "derived"
    calls: list[Call] = []
    begun: set[int] = set()
    for at, call in enumerate(tape.calls[: failed.at + 1]):
        place = tape.places[at]
        if at in caught and not place:
            continue
        if place is None or (not entered and not place[1]):
            calls.append(call)
        elif entered and place[0] not in begun:
            begun.add(place[0])
            calls += _region(tape, place[0], failed.at)
    # An empty block or Function leaves no call of its own at its place; it goes before the first call that needs it.
    for number, one in enumerate(tape.inside.entered) if entered else ():
        if number not in begun and one.kind == "function" and one.outputs:
            needs = [n for n, call in enumerate(calls) if set(call.inputs()) & set(one.outputs)]
            calls[min(needs, default=len(calls) - 1) : 0] = _region(tape, number, failed.at)
    program = Program(dict(tape.leaves), tuple(calls))
    if failed.failure.kind == "made":
        # Bad values that the loss is not made of come before it.
        program = replace(program, calls=needed(program, backwards=False))
    return program.used(), failed.failure


def _region(tape: Tape, number: int, end: int) -> list[Call]:
    one = tape.inside.entered[number]
    runs: list[list[Call]] = [[] for _ in range(one.runs)]
    for at in range(end + 1):
        place = tape.places[at]
        if place is not None and place[0] == number:
            runs[place[1]].append(tape.calls[at])
    if one.kind == "function":
        return _function(one, runs)
    return _block(tape, runs, number, end)


def _block(tape: Tape, runs: list[list[Call]], number: int, end: int) -> list[Call]:
    made = [{n for call in run for n in call.outputs if n is not None} for run in runs]
    later = {
        n
        for at in range(end + 1)
        if tape.places[at] is None or tape.places[at][0] != number  # type: ignore[index]
        for n in tape.calls[at].inputs()
    }
    outputs = [n for n in dict.fromkeys(o for call in runs[0] for o in call.outputs) if n in later]
    asked = [
        n for run, own in zip(runs, made, strict=True) for call in run for n in call.inputs() if n not in own
    ]
    given = tuple(dict.fromkeys(asked))
    returned = tuple(Ref(n) for n in outputs)
    if not outputs or not given:
        return list(runs[0])
    last = [n for n in made[-1] if n] or list(given)
    again = tuple(Ref(last[-1]) for _ in outputs)
    region = Checkpointed(given, tuple(map(tuple, runs)), (returned, *(again for _ in runs[1:])))
    settings = runs[0][0].settings if runs[0] else None
    call = Call(region, "torch.utils.checkpoint.checkpoint", tuple(Ref(n) for n in given), {}, tuple(outputs))
    return [replace(call, settings=settings) if settings is not None else call]


def _function(one: Entered, runs: list[list[Call]]) -> list[Call]:
    params: list[int] = []
    # Numbers of their own stand for arguments that are no tensors.
    for position, x in enumerate(one.args):
        params.append(x.number if isinstance(x, Ref) else -1 - position)
    own = {*params, *one.arriving, *(n for run in runs for call in run for n in call.outputs)}
    asked = [n for run in runs for call in run for n in call.inputs() if n not in own]
    asked += [
        x.number
        for values in one.returned.values()
        for x in values
        if isinstance(x, Ref) and x.number not in own
    ]
    extra = tuple(dict.fromkeys(asked))
    back = one.returned.get(1, ())
    region = Custom(
        (*params, *extra),
        (tuple(runs[0]), tuple(runs[1]) if len(runs) > 1 else ()),
        (one.returned.get(0, ()), (*back, *(None for _ in extra)) if back else ()),
        one.arriving,
        one.name,
    )
    args = (*one.args, *(Ref(n) for n in extra))
    return [Call(region, f"{one.name}.apply", args, {}, one.outputs)]


def _leads_to(error: BaseException | None, one: BaseException) -> bool:
    """Whether ``one`` is the error, or what it was raised from."""
    while error is not None:
        if error is one:
            return True
        error = error.__cause__ or error.__context__
    return False


def _behind(tape: Tape, at: int) -> set[int]:
    """The calls that the call ``at`` depends on."""
    wanted = set(tape.calls[at].inputs())
    found = {at}
    for n in range(at - 1, -1, -1):
        call = tape.calls[n]
        if wanted & set(call.outputs):
            wanted |= set(call.inputs())
            found.add(n)
    return found
