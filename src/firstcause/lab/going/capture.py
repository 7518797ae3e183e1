"""What a going program does now: each process at its line, twice a moment apart, and who waits for whom."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

from firstcause.errors import InputError
from firstcause.lab import places
from firstcause.lab.going.processes import Process, read, tree
from firstcause.lab.going.stacks import Frame, Stacks, stacks

APART = 1.0
# A process that used less of the time between two looks stands still.
IDLE = 0.02
FULL = 0.02

WORKER = ("torch/utils/data/_utils/worker.py", "_worker_loop")
FETCH = ("torch/utils/data/dataloader.py", ("_try_get_data", "_get_data", "_next_data"))
COLLECTIVE = "torch/distributed/distributed_c10d.py"
TRACKERS = ("resource_tracker", "semaphore_tracker", "forkserver")


@dataclass(frozen=True)
class Standing:
    """A process at one moment: what it is, whether it stood still since the look before, and its innermost own line."""

    process: Process
    role: str
    still: bool
    line: Frame | None
    inside: Frame | None
    stacks: Stacks


@dataclass(frozen=True)
class Captured:
    """All processes beneath one, parents first, what is waited for in a sentence each, and what of memory is short."""

    standing: tuple[Standing, ...]
    waits: tuple[str, ...]
    notes: tuple[str, ...]


def capture(pid: int, apart: float = APART) -> Captured:
    """Look at a process and all beneath it, twice, ``apart`` seconds from each other.

    Nothing is changed or ended: the kernel is asked, and py-spy where it is installed. Raises ``InputError`` where there is no
    such process, or no Python beneath it.
    """
    first = tree(pid)
    if not first:
        raise InputError("no-such-process", f"there is no process {pid}", "ps -ef | grep python")
    wanted = [
        p
        for p in first
        if p.is_python
        and p.pid != os.getpid()
        and p.state != "has ended"
        and not any(t in p.command for t in TRACKERS)
    ]
    if not wanted:
        raise InputError(
            "not-python",
            f"neither process {pid} nor any beneath it is a Python",
            "give the training's own number",
        )
    before = {p.pid: stacks(p.pid) for p in wanted}
    time.sleep(apart)
    found = []
    for process in wanted:
        now = read(process.pid)
        if now is None:
            continue
        seen = stacks(process.pid)
        same = bool(seen.main) and seen.main == before[process.pid].main
        still = now.cpu - process.cpu < IDLE * apart + 0.02 and (same or not seen.main)
        found.append(Standing(now, _role(now, seen, pid), still, _own(seen.main), _first(seen.main), seen))
    return Captured(tuple(found), tuple(_waits(found)), tuple(_notes(found)))


def _role(process: Process, seen: Stacks, asked: int) -> str:
    if any(f.file.endswith(WORKER[0]) and f.function == WORKER[1] for f in seen.main):
        return "loader worker"
    if (
        process.rank is not None
        and "torchrun" not in process.command
        and "torch.distributed" not in process.command
    ):
        return f"rank {process.rank}"
    return "the process" if process.pid == asked else "process"


def _own(frames: Sequence[Frame]) -> Frame | None:
    """The innermost line of the program's own."""
    return next((f for f in frames if places.is_user_file(f.file)), None)


def _first(frames: Sequence[Frame]) -> Frame | None:
    return frames[0] if frames else None


def _waits(found: Sequence[Standing]) -> list[str]:
    """Who waits for whom, as far as the stacks tell."""
    told = []
    for one in found:
        frames = one.stacks.main
        if any(f.file.endswith(FETCH[0]) and f.function.rpartition(".")[2] in FETCH[1] for f in frames):
            workers = [w for w in found if w.process.parent == one.process.pid and w.role == "loader worker"]
            busy = [w for w in workers if w.line is not None]
            if busy:
                told += [f"{_name(one)} waits for a batch; {_name(w)} is at {_at(w.line)}" for w in busy]
            elif workers:
                told.append(
                    f"{_name(one)} waits for a batch, and none of its {len(workers)} workers is fetching one"
                )
            elif one.role != "loader worker":
                told.append(f"{_name(one)} fetches a batch itself, at {_at(one.line)}")
    ranks = [s for s in found if s.role.startswith("rank ")]
    inside = [s for s in ranks if any(f.file.endswith(COLLECTIVE) for f in s.stacks.main)]
    elsewhere = [s for s in ranks if s not in inside]
    if inside and elsewhere:
        names = ", ".join(_name(s) for s in inside)
        told += [f"{names} {'wait' if len(inside) > 1 else 'waits'} in a collective; {_name(s)} is at {_at(s.line)}"
                 for s in elsewhere]  # fmt: skip
    elif len(inside) > 1:
        told.append(
            "every rank is in a collective: " + "; ".join(f"{_name(s)} at {_at(s.line)}" for s in inside)
        )
    return told


def _name(one: Standing) -> str:
    return f"{one.role} ({one.process.pid})"


def _at(frame: Frame | None) -> str:
    return f"{frame.file}:{frame.line} in {frame.function}" if frame is not None else "no line of the program"


def _notes(found: Sequence[Standing]) -> list[str]:
    notes = sorted({s.stacks.why for s in found if s.stacks.why})
    try:
        room = os.statvfs("/dev/shm")
    except OSError:
        return notes
    if room.f_blocks and room.f_bavail < FULL * room.f_blocks:
        left = room.f_bavail * room.f_frsize / 1e6
        notes.append(f"/dev/shm has {left:.0f} MB left: loader workers hand batches over through it")
    return notes
