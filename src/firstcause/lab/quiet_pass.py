"""One more forward pass of the program's own model, after which its training goes on as if it had not been. Sealed child only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from firstcause.record.observe import rng


@contextmanager
def unchanged(module: torch.nn.Module) -> Iterator[None]:
    """Random numbers, buffers and what hangs on the modules are put back behind it; what else a forward writes to is not."""
    state = rng.global_state()
    buffers = [(b, b.clone()) for b in module.buffers()]
    # The modes among them.
    attributes = [(vars(part), dict(vars(part))) for part in module.modules()]
    try:
        yield
    finally:
        for space, before in attributes:
            for name in space.keys() - before.keys():
                del space[name]
            space.update(before)
        rng.set_global_state(state)
        with torch.no_grad():
            for buffer, values in buffers:
                buffer.copy_(values)


@contextmanager
def quiet(module: torch.nn.Module) -> Iterator[None]:
    """The same, in evaluation mode and without gradients."""
    with unchanged(module), torch.no_grad():
        module.eval()
        yield
