"""Inside a checkpointed block or an autograd Function: leave out calls, and what is returned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from firstcause.minimize.program import Program, Ref
from firstcause.minimize.reductions.fewer_arguments import shorter
from firstcause.minimize.regions import Custom, Region, regions


def fewer_inner_calls(program: Program) -> Iterator[Program]:
    for at, region in regions(program):
        call = program.calls[at]
        for smaller in (*_without_calls(region), *_without_returned(region)):
            yield program.with_call(at, replace(call, function=smaller))


def _without_calls(region: Region) -> Iterator[Region]:
    for number, run in enumerate(region.runs):
        ends = (
            [n for n in region.returned[number] if isinstance(n, Ref)]
            if number < len(region.returned)
            else []
        )
        sources = [n for n in region.given if n >= 0]
        if isinstance(region, Custom) and number == 1:
            sources = [*region.arriving, *sources]
        if len(run) > 1 and ends and sources:
            # Nothing at all is done: what was given is returned.
            for source in sources[:2]:
                yield _returning(
                    region.with_run(number, ()), number, dict.fromkeys((e.number for e in ends), source)
                )
        for n in reversed(range(len(run))):
            call, rest = run[n], (*run[:n], *run[n + 1 :])
            for less in shorter(call):
                yield region.with_run(number, (*run[:n], less, *run[n + 1 :]))
            made = [o for o in call.outputs if o is not None]
            later = {i for other in run[n + 1 :] for i in other.inputs()} | {e.number for e in ends}
            if not set(made) & later:
                yield region.with_run(number, rest)
                continue
            for source in dict.fromkeys(i for i in call.inputs() if i not in made):
                names = dict.fromkeys(made, source)
                renamed = (*run[:n], *(other.renamed(names) for other in run[n + 1 :]))
                yield _returning(region.with_run(number, renamed), number, names)


def _returning(region: Region, number: int, names: dict[int, int]) -> Region:
    values = tuple(
        Ref(names[x.number]) if isinstance(x, Ref) and x.number in names else x
        for x in region.returned[number]
    )
    return replace(region, returned=(*region.returned[:number], values, *region.returned[number + 1 :]))


def _without_returned(region: Region) -> Iterator[Region]:
    if not isinstance(region, Custom) or not region.returned[1]:
        return
    for n, x in enumerate(region.returned[1]):
        if x is not None:
            values = (*region.returned[1][:n], None, *region.returned[1][n + 1 :])
            yield replace(region, returned=(region.returned[0], values))
