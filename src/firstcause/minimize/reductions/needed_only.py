"""Leave out the calls whose results, and whose writes, the failing call never sees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from firstcause.minimize.program import Program


def needed_only(program: Program) -> Iterator[Program]:
    calls = list(program.calls)
    wanted = set(calls[-1].inputs())
    kept = [calls[-1]]
    for call in reversed(calls[:-1]):
        writes = call.name.rpartition(".")[2].endswith("_") or call.name.endswith(("backward", "__set__"))
        if wanted & set(call.outputs) or (writes and wanted & set(call.inputs())):
            wanted |= set(call.inputs())
            kept.append(call)
    if len(kept) < len(calls):
        yield replace(program, calls=tuple(reversed(kept)))
