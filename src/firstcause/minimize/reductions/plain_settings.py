"""Leave out autocast regions and switched-off gradients, transposed memory, go to the CPU, and to float32."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch

from firstcause.minimize.program import Program, Settings

PLAIN = Settings()


def plain_settings(program: Program) -> Iterator[Program]:
    if any(call.settings != PLAIN for call in program.calls):
        yield replace(program, calls=tuple(replace(call, settings=PLAIN) for call in program.calls))
        for at, call in enumerate(program.calls):
            if call.settings != PLAIN:
                plain = replace(call, settings=PLAIN)
                yield program.with_call(at, plain)
    for number, leaf in program.leaves.items():
        if leaf.value.layout is torch.strided and not leaf.value.is_contiguous():
            plainer = replace(leaf, value=leaf.value.contiguous())
            yield replace(program, leaves={**program.leaves, number: plainer})
    devices = {leaf.value.device.type for leaf in program.leaves.values()} - {"cpu", "meta"}
    if devices:
        moved = {n: replace(f, value=f.value.cpu()) for n, f in program.leaves.items()}
        yield replace(program, leaves=moved)
    narrow = [n for n, f in program.leaves.items() if f.value.dtype in (torch.float16, torch.bfloat16)]
    if narrow:
        wide = {n: replace(f, value=f.value.float()) for n, f in program.leaves.items() if n in narrow}
        yield replace(program, leaves={**program.leaves, **wide})
