"""Of a checkpointed block or an autograd Function: leave out arguments that nothing inside asks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from firstcause.minimize.program import Call, Program
from firstcause.minimize.regions import Custom, Region, regions


def fewer_given(program: Program) -> Iterator[Program]:
    for at, region in regions(program):
        call = program.calls[at]
        for smaller, args in _without_arguments(region, call):
            yield program.with_call(at, replace(call, function=smaller, args=args))


def _without_arguments(region: Region, call: Call) -> Iterator[tuple[Region, tuple[object, ...]]]:
    used = region.numbers()
    for n, number in enumerate(region.given):
        if number not in used and len(region.given) > 1:
            args = (*call.args[:n], *call.args[n + 1 :])
            smaller = replace(region, given=(*region.given[:n], *region.given[n + 1 :]))
            if isinstance(region, Custom) and len(region.returned[1]) > n:
                back = region.returned[1]
                yield replace(smaller, returned=(region.returned[0], (*back[:n], *back[n + 1 :]))), args
            yield smaller, args
