"""A device whose context a kernel's assertion has ended: how that is told, and what is kept for it beforehand."""

from __future__ import annotations

import ctypes

import torch

WORDS = ("device-side assert", "CUDA error", "CUDA kernel errors")
RING_BYTES = 8 << 20
ALIGNED = 64


def is_dead(error: BaseException | None) -> bool:
    """Whether an exception tells of a device that will give nothing back any more."""
    return (
        error is not None
        and not isinstance(error, torch.cuda.OutOfMemoryError)
        and any(w in str(error) for w in WORDS)
    )


class HostRing:
    """The last inputs of calls on the host: copied in the stream's own order, so that nobody waits for them.

    The memory is pinned once and never given back: to free pinned memory after the context has died would end the
    process. A copy is overwritten after ``RING_BYTES`` more; larger tensors are not kept.
    """

    def __init__(self) -> None:
        self.memory = torch.empty(RING_BYTES, dtype=torch.uint8, pin_memory=True)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.memory))
        self.end = 0

    def keep(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """A copy that holds the values as soon as the device comes to it; None where the tensor is too large."""
        if tensor.layout is not torch.strided or not 0 < tensor.nbytes <= RING_BYTES // 4:
            return None
        start = self.end if self.end + tensor.nbytes <= RING_BYTES else 0
        self.end = start + -(-tensor.nbytes // ALIGNED) * ALIGNED
        host = self.memory[start : start + tensor.nbytes].view(tensor.dtype).view(tensor.shape)
        return host.copy_(tensor.detach(), non_blocking=True)
