"""The processes beneath one, as the kernel tells of them; nothing is sent to any of them."""

from __future__ import annotations

import os
from dataclasses import dataclass

STATES = {
    "R": "runs",
    "S": "sleeps",
    "D": "waits for a disk or a device",
    "T": "is stopped",
    "Z": "has ended",
}
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Process:
    """One process: its parent, command, state in words, processor seconds, resident bytes now and at most, and its rank."""

    pid: int
    parent: int
    command: str
    state: str
    cpu: float
    resident: int
    highest: int
    rank: int | None

    @property
    def is_python(self) -> bool:
        return "python" in os.path.basename(self.command.partition(" ")[0])


def tree(pid: int) -> list[Process]:
    """The process and all beneath it, parents first; empty where there is no such process."""
    own = read(pid)
    if own is None:
        return []
    every = [p for name in os.listdir("/proc") if name.isdigit() and (p := read(int(name))) is not None]
    found = [own]
    for one in found:
        found += sorted((p for p in every if p.parent == one.pid), key=lambda p: p.pid)
    return found


def read(pid: int) -> Process | None:
    """One process; None where it is gone or another user's."""
    try:
        stat = _text(pid, "stat")
        status = dict(line.split(":", 1) for line in _text(pid, "status").splitlines() if ":" in line)
        command = _text(pid, "cmdline").replace("\0", " ").strip()
    except OSError:
        # It ended while we looked.
        return None
    # The name in brackets may hold anything.
    words = stat.rpartition(")")[2].split()
    return Process(
        pid,
        int(words[1]),
        command,
        STATES.get(words[0], words[0]),
        (int(words[11]) + int(words[12])) / TICKS,
        _bytes(status.get("VmRSS", "")),
        _bytes(status.get("VmHWM", "")),
        _rank(pid),
    )


def _rank(pid: int) -> int | None:
    try:
        variables = dict(v.split("=", 1) for v in _text(pid, "environ").split("\0") if "=" in v)
    except OSError:
        return None
    return int(variables["RANK"]) if variables.get("RANK", "").isdigit() else None


def _text(pid: int, name: str) -> str:
    with open(f"/proc/{pid}/{name}", encoding="utf-8", errors="replace") as file:
        return file.read()


def _bytes(text: str) -> int:
    words = text.split()
    return int(words[0]) * 1024 if words else 0
