"""What memory the process holds, written into the journal at steps that grow ever rarer."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from firstcause.record.journal import Journal

PAGE = os.sysconf("SC_PAGE_SIZE")
# Some fifty looks in 10,000 steps, 20 us each.
FACTOR = 1.15


class Memory:
    """Resident bytes, and where CUDA is in use what its allocator has handed out, reserved, and had at most."""

    def __init__(self) -> None:
        self.next = 0

    def after(self, step: int, journal: Journal) -> None:
        """Note the state after ``step`` (0-based), if it is due; asks the allocator's counters, never the device."""
        if step < self.next:
            return
        self.next = max(step + 1, int(FACTOR * step))
        journal.event("memory", step=step, **held())


def held() -> dict[str, Any]:
    """Bytes by name; a system that does not tell gives no resident ones."""
    found: dict[str, Any] = {}
    try:
        with open("/proc/self/statm", "rb") as file:
            found["resident"] = int(file.read().split()[1]) * PAGE
    except OSError:
        # Elsewhere than on Linux.
        found["resident"] = 0
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        found["allocated"] = torch.cuda.memory_allocated()
        found["reserved"] = torch.cuda.memory_reserved()
        found["peak"] = torch.cuda.max_memory_allocated()
    return found
