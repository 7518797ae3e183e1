"""What the ranks' own words show when they are laid side by side: who waits for whom, who is late, who failed first."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from firstcause.record import ranked
from firstcause.record.ranked import Facts, Parting

# A rank is called slow where the others waited this share of the time for it, and this many seconds.
SHARE, LEAST_SECONDS = 0.2, 1.0


@dataclass(frozen=True)
class Late:
    """A rank that the others waited for: the seconds lost over so many collectives, and where its main thread was met."""

    rank: int
    seconds: float
    times: int
    met: str


@dataclass(frozen=True)
class Overview:
    """All of it: what each rank wrote, the first own failure, the first difference of the collectives, the latest rank."""

    standings: tuple[Facts, ...]
    failed: tuple[Facts, Facts] | None
    parting: Parting | None
    late: Late | None


def overview(path: str) -> Overview:
    """The overview of the run in ``path``."""
    found = ranked.standings(path)
    return Overview(tuple(found), ranked.failed_first(found), ranked.parted(found), _late(found))


def place(frames: Sequence[Facts], cwd: str) -> str:
    """The innermost line of the program in a stack, as the user would type it."""
    if not frames:
        return "no line of the program"
    path = os.path.relpath(frames[0]["file"], cwd)
    return f"{frames[0]['file'] if path.startswith('..') else path}:{frames[0]['line']}"


def _late(found: Sequence[Facts]) -> Late | None:
    """The rank that most was waited for: by how much it entered collectives after the last of the others."""
    entered: dict[tuple[str, int], dict[int, float]] = {}
    for standing in found:
        for call in standing["calls"]:
            entered.setdefault((call["group"], call["seq"]), {})[int(standing["rank"])] = float(call["time"])
    whole = [times for times in entered.values() if len(times) == len(found) > 1]
    lost: dict[int, list[float]] = {}
    for times in whole:
        latest = max(times, key=lambda rank: times[rank])
        gap = times[latest] - max(t for rank, t in times.items() if rank != latest)
        lost.setdefault(latest, []).append(gap)
    if not lost:
        return None
    # The longest of its gaps is left out: something large is loaded once, and once is not slow.
    lost = {r: sorted(gaps)[:-1] for r, gaps in lost.items()}
    rank = max(lost, key=lambda r: sum(lost[r]))
    first, last = min(min(t.values()) for t in whole), max(max(t.values()) for t in whole)
    seconds = sum(lost[rank])
    if seconds < max(LEAST_SECONDS, SHARE * (last - first)):
        return None
    met = next(s["met"] for s in found if s["rank"] == rank)
    others = [s["met"] for s in found if s["rank"] != rank]
    more = {line: n - max(o.get(line, 0) for o in others) for line, n in met.items()}
    return Late(rank, seconds, len(lost[rank]), max(more, key=lambda line: more[line], default=""))
