"""What a user's own trace shows: a Kineto or Chrome trace in JSON, or a snapshot of CUDA's memory; read as data only."""

from __future__ import annotations

import gzip
import json
import os
import statistics
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from firstcause.errors import InputError
from firstcause.triage import pickles

MOST_BYTES = 300_000_000
KERNELS = ("kernel", "gpu_memcpy", "gpu_memset")
WAITING = (
    "cudaStreamSynchronize",
    "cudaDeviceSynchronize",
    "cudaEventSynchronize",
    "cudaMemcpy",
    "hipStreamSynchronize",
)
LOADER = "enumerate(DataLoader)"
MIB = float(1 << 20)
# Shares from which a class is named; they are signs in a trace, and no experiment.
DATA, WAIT, IDLE, EXPOSED, BUSY = 0.2, 0.1, 0.25, 0.15, 0.85
SHORT_KERNEL_US = 10.0


@dataclass(frozen=True)
class Trace:
    """A trace's kind, its figures by name, the class that they point at, and what it does not show."""

    kind: str
    figures: tuple[tuple[str, str], ...]
    points_at: str
    lacking: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "figures": dict(self.figures),
            "points_at": self.points_at,
            "lacking": list(self.lacking),
        }


def read(path: str) -> Trace:
    """Read a trace; raises ``InputError`` where it is none, damaged, or larger than 300 MB."""
    try:
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
        if data[:2] == b"\x1f\x8b":
            with gzip.open(path) as packed:
                data = packed.read(MOST_BYTES + 1)
    except (EOFError, zlib.error) as error:
        raise InputError(
            "trace-damaged", f"{path} is packed and cannot be unpacked: {error}", "export it again"
        ) from error
    except OSError as error:
        raise InputError("trace-unreadable", f"{path} cannot be read: {error}", "check its path") from error
    if len(data) > MOST_BYTES:
        raise InputError(
            "trace-too-large",
            f"{path} has {size} bytes or more unpacked, and {MOST_BYTES} are read",
            "record fewer steps",
        )
    try:
        if data.lstrip()[:1] in (b"{", b"["):
            whole = json.loads(data)
            events = whole.get("traceEvents") if isinstance(whole, dict) else whole
            if isinstance(events, list):
                return _kineto([e for e in events if isinstance(e, dict)])
        else:
            held = pickles.loads(data)
            if isinstance(held, dict) and isinstance(held.get("segments"), list):
                return _memory(held["segments"])
    except (ValueError, RecursionError) as error:
        raise InputError(
            "trace-damaged", f"{path} is no trace that can be read: {error}", "export it again"
        ) from error
    raise InputError(
        "trace-unknown",
        f"{path} holds neither traceEvents nor segments of memory",
        "prof.export_chrome_trace(FILE), or torch.cuda.memory._dump_snapshot(FILE)",
    )


# ------------------------------------------------------------------ Kineto


def _kineto(events: Sequence[dict[str, Any]]) -> Trace:
    whole = [e for e in events if e.get("ph") == "X" and _is_number(e.get("ts")) and _is_number(e.get("dur"))]
    if not whole:
        return Trace("trace", (("events", "0"),), "", ("it holds no event with a duration",))
    first, last = min(e["ts"] for e in whole), max(e["ts"] + e["dur"] for e in whole)
    span = max(last - first, 1e-9)
    kernels = [e for e in whole if e.get("cat") in KERNELS]
    steps = [e for e in whole if str(e.get("name", "")).startswith("ProfilerStep#")]
    data = _covered(e for e in whole if LOADER in str(e.get("name", ""))) / span
    waits = _covered(e for e in whole if e.get("name") in WAITING) / span
    ops = [e for e in whole if e.get("cat") == "cpu_op"]
    figures = [("span", f"{span / 1000:.1f} ms"), ("steps", str(len(steps)) if steps else "not marked")]
    figures += [
        ("waiting for data", f"{100 * data:.0f} % of the span"),
        ("operations on the CPU", str(len(ops))),
    ]
    points_at = "data" if data >= DATA else ""
    lacking = ["what would be faster: a trace is no experiment (firstcause profile COMMAND makes one)"]
    if kernels:
        busy = _covered(kernels) / span
        median = statistics.median(e["dur"] for e in kernels)
        talk = [e for e in kernels if "nccl" in str(e.get("name", "")).lower()]
        exposed = (_covered(kernels) - _covered(e for e in kernels if e not in talk)) / span if talk else 0.0
        figures += [
            (
                "device busy",
                f"{100 * busy:.0f} % of the span, which says that some kernel ran, not that it was needed",
            ),
            ("kernels", f"{len(kernels)}, the median takes {median:.1f} us"),
            ("host waiting for the device", f"{100 * waits:.0f} % of the span"),
            ("communication not hidden", f"{100 * exposed:.0f} % of the span"),
        ]
        points_at = points_at or _class(busy, waits, exposed, median)
    else:
        lacking.append("anything about a device: no kernel was recorded")
        top = _top(ops)
        figures += [("most time in", top)] if top else []
        points_at = points_at or (
            "many small operations" if ops and span / len(ops) < SHORT_KERNEL_US else ""
        )
    if not any(e.get("cat") == "python_function" or _dict(e.get("args")).get("Call stack") for e in whole):
        lacking.append("which line of the program: record it with with_stack=True")
    if len(steps) < 3:
        lacking.append("the steps' spread: fewer than three are marked (schedule, prof.step())")
    return Trace("trace", tuple(figures), points_at, tuple(lacking))


def _class(busy: float, waits: float, exposed: float, median: float) -> str:
    if exposed >= EXPOSED:
        return "communication"
    if waits >= WAIT and 1 - busy >= WAIT:
        return "synchronisation"
    if 1 - busy >= IDLE and median < SHORT_KERNEL_US:
        return "host or launch"
    return "compute or memory bandwidth" if busy >= BUSY else ""


def _covered(events: Iterable[dict[str, Any]]) -> float:
    """Microseconds in which at least one of the events runs."""
    total, end = 0.0, float("-inf")
    for start, stop in sorted((e["ts"], e["ts"] + e["dur"]) for e in events):
        total += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return total


def _top(ops: Sequence[dict[str, Any]]) -> str:
    sums: dict[str, tuple[float, int]] = {}
    for event in ops:
        name = str(event.get("name", ""))
        seconds, count = sums.get(name, (0.0, 0))
        sums[name] = (seconds + event["dur"], count + 1)
    best = sorted(sums.items(), key=lambda s: -s[1][0])[:3]
    return ", ".join(f"{name} ({us / 1000:.1f} ms in {count} calls)" for name, (us, count) in best)


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# ------------------------------------------------------------------ memory


def _memory(segments: Sequence[Any]) -> Trace:
    rows = [s for s in segments if isinstance(s, dict) and _is_number(s.get("total_size"))]
    reserved = sum(s["total_size"] for s in rows)
    blocks = [
        b for s in rows for b in _list(s.get("blocks")) if isinstance(b, dict) and _is_number(b.get("size"))
    ]
    active = sum(b["size"] for b in blocks if b.get("state") == "active_allocated")
    free = [b["size"] for b in blocks if b.get("state") == "inactive"]
    figures = (
        ("reserved", f"{reserved / MIB:.1f} MiB in {len(rows)} segments"),
        ("in use", f"{active / MIB:.1f} MiB"),
        (
            "free within segments",
            f"{sum(free) / MIB:.1f} MiB, the largest block {max(free, default=0) / MIB:.1f} MiB",
        ),
    )
    pieces = bool(reserved) and sum(free) >= IDLE * reserved and max(free, default=0) < sum(free) / 4
    lacking = (
        "how it came there over time: only what is held at one moment is in it",
        "what other processes hold",
    )
    return Trace("memory snapshot", figures, "fragmentation" if pieces else "", lacking)
