"""An allocation that was refused: the figures of its message, and what the record says of the steps before."""

from __future__ import annotations

import re
from dataclasses import dataclass
from statistics import median

from firstcause.schema import Symptom
from firstcause.specialists.examination import Examination

_UNITS = {"bytes": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_SIZE = r"([\d.]+) (bytes|[KMGT]iB)"
_WORDS = ("out of memory", "can't allocate memory", "Unable to allocate", "MemoryError", "bad_alloc")
# The context of CUDA and its libraries, which the older messages do not tell.
CONTEXT = 1 << 30
# Memory of the device that nobody accounts for is no other process below this.
LEAST_OTHERS, LEAST_SHARE = 2 << 30, 0.1
# How much of what is held at the end may have come since the first steps, in a run that is called flat.
FLAT = 0.05


@dataclass(frozen=True)
class Refused:
    """Bytes, None where the message does not tell: asked for, of the device, free on it, and of this process.

    ``idle`` is reserved by the allocator and in no use; ``own`` all of this process, ``others`` what neither it nor the
    free part explains.
    """

    message: str
    tried: int | None
    total: int | None
    free: int | None
    allocated: int | None
    idle: int | None
    own: int | None

    @property
    def is_device(self) -> bool:
        return self.total is not None

    @property
    def others(self) -> int | None:
        if self.total is None or self.free is None or self.own is None:
            return None
        return max(0, self.total - self.free - self.own)

    @property
    def is_foreign(self) -> bool:
        """Whether another process holds enough of the device for the request."""
        others = self.others
        if others is None or self.total is None or others < max(LEAST_OTHERS, LEAST_SHARE * self.total):
            return False
        return self.tried is None or self.tried <= (self.free or 0) + others

    @property
    def is_fragmented(self) -> bool:
        """Whether what lies idle in the allocator's own pool would have been enough."""
        return self.tried is not None and self.idle is not None and self.idle >= self.tried

    def told(self) -> str:
        """The figures in one sentence."""
        names = (
            ("tried", "asked for"),
            ("allocated", "in use by tensors"),
            ("idle", "reserved and in no use"),
            ("own", "of this process"),
            ("others", "of other processes"),
            ("free", "free"),
            ("total", "on the device"),
        )
        parts = [f"{gib(v)} {words}" for key, words in names if (v := getattr(self, key)) is not None]
        return ", ".join(parts) or self.message.splitlines()[0]

    def values(self) -> dict[str, int]:
        keys = ("tried", "total", "free", "allocated", "idle", "own", "others")
        return {k: v for k in keys if (v := getattr(self, k)) is not None}


def refused(symptom: Symptom) -> Refused | None:
    """The figures of a refused allocation; None for any other symptom."""
    message = symptom.message
    if symptom.kind != "exception" or not any(w in message for w in _WORDS):
        return None
    tried = _first(message, rf"[Tt]ried to allocate {_SIZE}", rf"Unable to allocate {_SIZE}")
    total = _first(message, rf"total capacity of {_SIZE}", rf"{_SIZE} total capacity")
    free = _first(message, rf"of which {_SIZE} is free", rf"{_SIZE} free[;)]")
    allocated = _first(message, rf"memory {_SIZE} is allocated by PyTorch", rf"{_SIZE} already allocated")
    idle = _first(message, rf"{_SIZE} is reserved by PyTorch but unallocated")
    pool = _first(message, rf"{_SIZE} reserved in total", rf"{_SIZE} cached\)")
    if idle is None and pool is not None and allocated is not None:
        idle = max(0, pool - allocated)
    own = _first(message, rf"this process has {_SIZE} memory in use")
    if own is None and allocated is not None:
        own = max(pool or 0, allocated + (idle or 0)) + CONTEXT
    return Refused(message, tried, total, free, allocated, idle, own)


def before(examination: Examination) -> list[tuple[int, int]]:
    """Steps and the bytes held after each, as recorded before the failing one: those of the device where it has some."""
    found: list[tuple[int, int]] = []
    for reading in examination.folder.journals().values():
        events = [e for e in reading.events if e.get("event") == "memory"]
        if len(events) > len(found):
            found = [(int(e["step"]), int(e.get("allocated") or e.get("resident") or 0)) for e in events]
    return found


def is_flat(held: list[tuple[int, int]]) -> bool:
    """Whether the steps before left nothing behind, from the second on: the first makes the optimizer's state."""
    sizes = [size for step, size in held if step > 0]
    if len(sizes) < 4:
        return True
    half = len(sizes) // 2
    return median(sizes[half:]) - median(sizes[:half]) <= FLAT * median(sizes)


def gib(size: float) -> str:
    """A size in the unit that a reader compares it in."""
    return f"{size / (1 << 30):.2f} GiB" if size >= 1 << 28 else f"{size / (1 << 20):.1f} MiB"


def _first(message: str, *patterns: str) -> int | None:
    for pattern in patterns:
        found = re.search(pattern, message)
        if found is not None:
            return int(float(found[1]) * _UNITS[found[2]])
    return None
