"""Running means and variances of norms: torch writes them without counting it in their version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

NAMES = ("running_mean", "running_var")
COUNTER = "num_batches_tracked"


def beside(spaces: Iterable[Mapping[str, Any]]) -> dict[int, set[int]]:
    """Ids of running statistics by the id of the counter that is written with them; by 0 those that have none.

    ``spaces`` are the namespaces of modules.
    """
    found: dict[int, set[int]] = {}
    for space in spaces:
        buffers = space.get("_buffers") or {}
        counter = buffers.get(COUNTER)
        for name in NAMES:
            if buffers.get(name) is not None:
                found.setdefault(0 if counter is None else id(counter), set()).add(id(buffers[name]))
    return found
