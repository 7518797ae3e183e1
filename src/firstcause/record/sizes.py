"""Numbers of bytes as a person reads them."""

from __future__ import annotations


def size(count: float) -> str:
    """A number of bytes in decimal units, as disks and ``ls`` are read: 512 B, 1.2 kB, 3.4 GB."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
