"""Whether two ranks hold the same data: one number of what a dataset holds, the same on every machine."""

from __future__ import annotations

import sys
import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

DEEPEST = 4
MOST_ITEMS = 2000


def fingerprint(held: Any, depth: int = 0) -> int:
    """A checksum of the tensors, arrays, numbers and texts that an object holds, by its attributes."""
    # Looked up, since the watchers are made before the program imports torch: they change it as it loads.
    if isinstance(held, sys.modules["torch"].Tensor):
        return checksum(held)
    if isinstance(held, (str, int, float, bool, bytes, type(None))):
        return zlib.crc32(repr(held).encode())
    if depth >= DEEPEST:
        return 0
    if isinstance(held, (list, tuple)):
        parts = [fingerprint(x, depth + 1) for x in held[:MOST_ITEMS]]
        return zlib.crc32(repr((len(held), parts)).encode())
    if isinstance(held, dict):
        items = list(held.items())[:MOST_ITEMS]
        return zlib.crc32(repr([(str(k), fingerprint(v, depth + 1)) for k, v in items]).encode())
    if hasattr(held, "tobytes") and hasattr(held, "dtype"):
        return zlib.crc32(held.tobytes())
    own = getattr(held, "__dict__", None)
    if isinstance(own, dict) and not isinstance(held, type) and not callable(held):
        return zlib.crc32(f"{type(held).__name__} {fingerprint(own, depth + 1)}".encode())
    return zlib.crc32(type(held).__name__.encode())


def checksum(tensor: torch.Tensor) -> int:
    """A number that depends on every bit of a tensor's values and on their order."""
    plain = tensor.detach().cpu().contiguous()
    if plain.numel() == 0:
        return 0
    return zlib.crc32(bytes(plain.flatten().view(sys.modules["torch"].uint8).numpy().data))
