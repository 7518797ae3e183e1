"""Leave out keyword arguments and optional tensors, and gradients that nothing asks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from firstcause.minimize.program import Program, is_ref


def fewer_arguments(program: Program) -> Iterator[Program]:
    for at, call in enumerate(program.calls):

        def other(changed: object, at: int = at) -> Program:
            return replace(program, calls=(*program.calls[:at], changed, *program.calls[at + 1 :]))  # type: ignore[arg-type]

        for key in call.kwargs:
            yield other(replace(call, kwargs={k: v for k, v in call.kwargs.items() if k != key}))
        if len(call.args) > 1:
            yield other(replace(call, args=call.args[:-1]))
        for n, x in enumerate(call.args[1:], 1):
            if is_ref(x) and len(call.args) > 2:
                yield other(replace(call, args=(*call.args[:n], None, *call.args[n + 1 :])))
    for number, leaf in program.leaves.items():
        if leaf.trained:
            yield replace(program, leaves={**program.leaves, number: replace(leaf, trained=False)})
