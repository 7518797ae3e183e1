"""Leave out the calls whose results, and whose writes, the failing call never sees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from firstcause.minimize.program import Call, Program


def needed_only(program: Program) -> Iterator[Program]:
    for backwards in (False, True):
        kept = needed(program, backwards)
        if len(kept) < len(program.calls):
            yield replace(program, calls=kept)


def needed(program: Program, backwards: bool) -> tuple[Call, ...]:
    """The calls that the last one depends on.

    ``backwards``: an earlier backward is kept as well, since it frees the graph that the last one goes through.
    """
    wanted = set(program.calls[-1].inputs())
    kept = [program.calls[-1]]
    for call in reversed(program.calls[:-1]):
        short = call.name.rpartition(".")[2]
        writes = short.endswith("_") or call.name.endswith(("backward", "__set__", "__setitem__"))
        frees = backwards and call.name.endswith("backward")
        if frees or wanted & set(call.outputs) or (writes and wanted & set(call.inputs())):
            wanted |= set(call.inputs())
            kept.append(call)
    return tuple(reversed(kept))
