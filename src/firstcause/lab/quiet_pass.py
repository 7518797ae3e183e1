"""One more forward pass that leaves no trace: modes, random numbers and buffers are as before. Sealed child only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def quiet(module: torch.nn.Module) -> Iterator[None]:
    """Evaluation mode without gradients, and everything that a pass changes put back behind it."""
    state = torch.get_rng_state()
    buffers = [(b, b.clone()) for b in module.buffers()]
    modes = [(part, part.training) for part in module.modules()]
    try:
        module.eval()
        with torch.no_grad():
            yield
    finally:
        for part, mode in modes:
            part.training = mode
        torch.set_rng_state(state)
        with torch.no_grad():
            for buffer, before in buffers:
                buffer.copy_(before)
