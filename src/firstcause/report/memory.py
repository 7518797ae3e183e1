"""What a look at a run's memory found, in a few lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from firstcause.record.sizes import size

MIB = float(1 << 20)
COLUMNS = (
    ("step", "step"),
    ("tensors", "tensors"),
    ("tensor MiB", "bytes"),
    ("graph nodes", "nodes"),
    ("resident MiB", "resident"),
)
SHOWN = 5


def lines(samples: tuple[dict[str, Any], ...], growth: dict[str, Any], capacity: int) -> Iterator[str]:
    """A table of samples, the holder with its statement, and the step at which memory would be used up."""
    if not samples:
        yield "memory: the process did not grow by 1 MiB after its first steps"
        return
    every = max(1, (len(samples) - 1) // (SHOWN - 1))
    shown = [*samples[:-1:every], samples[-1]]
    yield "  ".join(f"{title:>12}" for title, _ in COLUMNS)
    for sample in shown:
        yield "  ".join(f"{_cell(key, sample[key]):>12}" for _, key in COLUMNS)
    site = growth.get("site")
    if growth.get("expression"):
        fed = f", fed at {site['file']}:{site['line']} `{site['text']}`" if site else ""
        yield f"held by `{growth['expression']}`{fed}"
    else:
        yield "no name of the program holds more and more"
    if growth.get("full_at") and growth.get("expression"):
        yield f"{size(growth['bytes_a_step'])} a step: {size(capacity)} would be used up at step {growth['full_at']:,}"


def _cell(key: str, value: int) -> str:
    return f"{value / MIB:.1f}" if key in ("bytes", "resident") else str(value)
