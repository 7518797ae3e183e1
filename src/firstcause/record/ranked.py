"""What the ranks of a run wrote of themselves: who stands where, and where their collectives first differ.

Each rank has a folder ``ranks/<rank>`` with ``now.json``: its latest collectives out of torch's flight recorder, the
lines that its main thread stands in, and how it ended. Nothing collects them: they are merged where they are read.
"""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Facts = dict[str, Any]
FOLDER, NOW, STACK = "ranks", "now.json", "stack.txt"
# What a rank is told when another one has gone or does not come: the consequence, never the cause.
_CONSEQUENCE = re.compile(
    r"connection (was )?(closed|reset|refused|aborted)|broken pipe|timed? ?out|unbound_buffer|recvValue failed|"
    r"transport/tcp|store->|DistStoreError|DistNetworkError|communicator was aborted|remote process|"
    r"BrokenBarrier|preamble|EnforceNotMet|enforce fail|monitoredBarrier|mismatch between collectives",
    re.IGNORECASE,
)
# How a rank ends that is told to, by somebody who has waited for long enough as a rule.
_ENDED_FROM_OUTSIDE = frozenset({"SystemExit", "KeyboardInterrupt"})
# All ranks must give these as many elements.
_SAME_SIZES = frozenset({"all_reduce", "broadcast", "reduce", "reduce_scatter", "all_to_all"})


def standings(path: str) -> list[Facts]:
    """What each rank of the run in ``path`` wrote last, by rank; one that cannot be read is left out."""
    found = []
    for name in glob.glob(os.path.join(glob.escape(path), FOLDER, "*", NOW)):
        try:
            with open(name, encoding="utf-8") as file:
                data = json.load(file)
        except (OSError, ValueError):
            # Of a rank that was killed before it had written anything.
            continue
        if isinstance(data, dict) and isinstance(data.get("rank"), int):
            data["fatal"] = _fatal(os.path.join(os.path.dirname(name), STACK))
            found.append(data | {"calls": [*data["calls"], *_pending(data)]})
    return sorted(found, key=lambda s: int(s["rank"]))


def world_of(path: str) -> int:
    """How many ranks the run had; 0 where none of its processes joined a group."""
    return max((int(s["world"]) for s in standings(path)), default=0)


def _pending(data: Facts) -> list[Facts]:
    """The collective that a watched rank was about to make when a signal ended it."""
    call = (data.get("audit") or {}).get("calls") if data["fatal"] else None
    own = [c["seq"] for c in data["calls"] if c["group"] == "0"]
    if not call or any(c["waiting"] and c["op"] == call["op"] for c in data["calls"][-1:]):
        return []
    return [
        call
        | {
            "group": "0",
            "seq": (own[-1] if own else 0) + 1,
            "waiting": True,
            "time": data["time"],
            "dtypes": [],
        }
    ]


def _fatal(path: str) -> list[Facts]:
    """The main thread's stack that Python's fault handler wrote when a signal ended the rank, innermost first.

    Threads stand in the order in which they began, the latest first: the main one is the last.
    """
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return []
    starts = [i for i, line in enumerate(lines) if re.match(r"(Current thread|Thread) 0x", line)]
    found = [
        re.match(r'\s*File "(.+)", line (\d+) in (.+)$', line)
        for line in lines[starts[-1] if starts else 0 :]
    ]
    return [{"file": m[1], "line": int(m[2]), "function": m[3]} for m in found if m]


def exception_of(standing: Facts) -> Facts | None:
    """The exception that ended a rank: the first one of its chain that is no consequence of another rank's."""
    ended = standing.get("ended") or {}
    chain: list[Facts] = ended.get("exception") or []
    own = [e for e in chain if not is_consequence(e) and e["type"] not in _ENDED_FROM_OUTSIDE]
    return own[0] if own else None


def is_consequence(error: Facts) -> bool:
    """Whether an exception only says that another rank has gone or did not come."""
    text = f"{error['type']} {error['message']}"
    # A loader's worker that does not answer is the rank's own.
    return "DataLoader" not in text and bool(_CONSEQUENCE.search(text))


def failed_first(found: Sequence[Facts]) -> tuple[Facts, Facts] | None:
    """The rank that raised first, of those whose exception is its own, and that exception."""
    own = [(s, e) for s in found if (e := exception_of(s)) is not None]
    return min(own, key=lambda pair: float(pair[0]["ended"]["time"])) if own else None


@dataclass(frozen=True)
class Parting:
    """The first collective of a group in which the ranks differ.

    ``calls`` has each rank's call at that place, None where it never came; ``alike`` is how many came before.
    ``kind`` is ``op``, ``shape`` or ``missing``.
    """

    group: str
    seq: int
    kind: str
    calls: Mapping[int, Facts | None]

    @property
    def alike(self) -> int:
        return self.seq - 1

    @property
    def odd(self) -> int:
        """The rank that does what the fewest do; of two, the one that never came, else the later one."""
        alike: dict[str, list[int]] = {}
        for rank, call in self.calls.items():
            alike.setdefault(signature(call), []).append(rank)
        return min(
            alike.values(), key=lambda ranks: (len(ranks), self.calls[ranks[0]] is not None, -ranks[0])
        )[0]

    @property
    def other(self) -> int:
        """A rank that does not do what the odd one does, one that waits if there is one."""
        mine = signature(self.calls[self.odd])
        others = [r for r, c in self.calls.items() if signature(c) != mine]
        return min(others, key=lambda r: (self.calls[r] is None, r))


def signature(call: Facts | None) -> str:
    """What must be equal on all ranks: the operation, and for some of them the sizes."""
    if call is None:
        return ""
    return f"{call['op']} {call['sizes']}" if call["op"] in _SAME_SIZES else str(call["op"])


def shown(call: Facts | None) -> str:
    """A collective as a reader names it, such as ``all_reduce [[2]]``."""
    return "none" if call is None else f"{call['op']} {call['sizes']}" if call["sizes"] else str(call["op"])


def parted(found: Sequence[Facts]) -> Parting | None:
    """Where the ranks' collectives first differ, over all groups; None where they are alike as far as they are kept."""
    partings = [p for group in _groups(found) if (p := _parted(group, found)) is not None]
    return min(partings, key=_time, default=None)


def _time(parting: Parting) -> float:
    return min(float(c["time"]) for c in parting.calls.values() if c is not None)


def _groups(found: Iterable[Facts]) -> list[str]:
    return sorted({c["group"] for s in found for c in s["calls"]})


def _parted(group: str, found: Sequence[Facts]) -> Parting | None:
    members = [s for s in found if group in ("0", "") or any(c["group"] == group for c in s["calls"])]
    calls = {int(s["rank"]): {int(c["seq"]): c for c in s["calls"] if c["group"] == group} for s in members}
    if len(calls) < 2 or not any(calls.values()):
        return None
    first = max(min(own) for own in calls.values() if own)
    last = max(max(own) for own in calls.values() if own)
    for seq in range(first, last + 1):
        at = {rank: own.get(seq) for rank, own in calls.items()}
        unknown = {r for r in at if at[r] is None and not _known(members, r, at)}
        if len({signature(c) for r, c in at.items() if r not in unknown}) > 1:
            present = [c for c in at.values() if c is not None]
            ops = {c["op"] for c in present}
            kind = (
                "missing" if len(present) < len(at) and len(ops) == 1 else "op" if len(ops) > 1 else "shape"
            )
            return Parting(group, seq, kind, {r: c for r, c in at.items() if r not in unknown})
    return None


def _known(members: Sequence[Facts], rank: int, at: Mapping[int, Facts | None]) -> bool:
    """Whether it is known that a rank did not come: it told how it ended, or was seen after the others had come."""
    standing = next(s for s in members if s["rank"] == rank)
    came = [float(c["time"]) for c in at.values() if c is not None]
    # What a signal ended had no last word; a watched rank had said before what it was about to do, and the launcher ends
    # the others at once.
    watched = standing.get("audit") is not None and any(s["fatal"] for s in members)
    said = standing["ended"] is not None or watched
    return said or (not standing["fatal"] and float(standing.get("time", 0.0)) > min(came))
