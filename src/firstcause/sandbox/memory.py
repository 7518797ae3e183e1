"""Whether a forked child fits: what it may come to need against what the machine and the control groups still give."""

from __future__ import annotations

import _io
import os
from collections.abc import Iterator

# Copy on write: a replayed step touches part of what the parent holds, and makes as much anew.
SHARE = 0.5
ACCOUNTS = {
    "cgroup2": ("memory.max", "memory.current"),
    "cgroup": ("memory.limit_in_bytes", "memory.usage_in_bytes"),
}


def headroom() -> int:
    """Bytes that a child could still take before this machine, or a control group of this process, is out of memory."""
    available = _fields("/proc/meminfo").get("MemAvailable", 0)
    return max(0, min([available, *_groups()]))


def shortage() -> str:
    """Why a forked child would not fit, with both numbers; an empty string where it fits."""
    own = _fields("/proc/self/status")
    held = own.get("RssAnon", own.get("VmRSS", 0)) + own.get("RssShmem", 0)
    need, free = int(held * SHARE), headroom()
    if free >= need:
        return ""
    return f"{free >> 20} MiB are free, {need >> 20} MiB are needed: half of the {held >> 20} MiB that the program holds"


def _groups() -> Iterator[int]:
    """What is left in this process's control group and in each one above it."""
    for kind, mount, path in _memberships():
        limit_name, usage_name = ACCOUNTS[kind]
        while True:
            folder = mount + path.rstrip("/")
            limit, usage = _number(f"{folder}/{limit_name}"), _number(f"{folder}/{usage_name}")
            if limit is not None and usage is not None:
                # Cached files count as used, and are given back when memory is asked for.
                cached = _fields(f"{folder}/memory.stat", unit=1)
                yield limit - usage + cached.get("total_inactive_file", cached.get("inactive_file", 0))
            if path in ("", "/"):
                break
            path = os.path.dirname(path)


def _memberships() -> Iterator[tuple[str, str, str]]:
    """Kind, mount point, and path below it, of the hierarchies that account for memory."""
    paths = {}
    for line in _lines("/proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if not controllers or "memory" in controllers.split(","):
            paths["cgroup" if controllers else "cgroup2"] = path
    for line in _lines("/proc/self/mountinfo"):
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        if kind not in paths or (kind == "cgroup" and "memory" not in options.split(",")):
            continue
        root, mount = before.split(" ")[3:5]
        path = paths[kind]
        # In a container the mount shows the group itself, while the path is still the host's.
        if root != "/":
            path = path[len(root) :] if path.startswith(root) else "/"
        yield kind, mount, path


def _fields(path: str, unit: int = 1024) -> dict[str, int]:
    """The numbers of a file of names and numbers; /proc counts in KiB."""
    found = {}
    for line in _lines(path):
        name, *rest = line.replace(":", " ").split()
        if rest and rest[0].isdigit():
            found[name] = int(rest[0]) * unit
    return found


def _number(path: str) -> int | None:
    lines = _lines(path)
    return int(lines[0]) if lines and lines[0].isdigit() else None


def _lines(path: str) -> list[str]:
    try:
        with _io.open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []
