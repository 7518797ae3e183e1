"""Leave out keyword arguments and optional tensors, and gradients that nothing asks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from firstcause.minimize.program import Call, Program, is_ref
from firstcause.minimize.regions import Region

# Without these torch guesses, or warns that it will no longer.
DECIDING = ("dim",)
DIMENSIONS = ("softmax", "log_softmax", "softmin")


def fewer_arguments(program: Program) -> Iterator[Program]:
    for at, call in enumerate(program.calls):
        if not isinstance(call.function, Region):
            for changed in shorter(call):
                yield program.with_call(at, changed)
    for number, leaf in program.leaves.items():
        if leaf.trained:
            yield replace(program, leaves={**program.leaves, number: replace(leaf, trained=False)})


def shorter(call: Call) -> Iterator[Call]:
    """The call with one argument less, or with None in the place of a tensor."""
    for key in call.kwargs:
        if key not in DECIDING:
            yield replace(call, kwargs={k: v for k, v in call.kwargs.items() if k != key})
    for n, x in enumerate(call.args):
        if isinstance(x, (list, tuple)) and len(x) > 2 and all(map(is_ref, x)):
            x = list(x)
            for part in (x[: len(x) // 2], x[len(x) // 2 :], *(x[:k] + x[k + 1 :] for k in range(len(x)))):
                yield replace(call, args=(*call.args[:n], part, *call.args[n + 1 :]))
    if len(call.args) > 1 and (is_ref(call.args[-1]) or call.name.rpartition(".")[2] not in DIMENSIONS):
        yield replace(call, args=call.args[:-1])
    for n, x in enumerate(call.args[1:], 1):
        if is_ref(x) and len(call.args) > 2:
            yield replace(call, args=(*call.args[:n], None, *call.args[n + 1 :]))
