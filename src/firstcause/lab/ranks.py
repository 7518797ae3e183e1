"""A program of several ranks run once more in a confined copy of its folder, each rank watched, and read from here.

It ends when its command does, when nothing moves any more, or when its time is up; then nothing of it is left running.
"""

from __future__ import annotations

import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from typing import Any

from firstcause.errors import FirstcauseError
from firstcause.lab import rings
from firstcause.lab.sealed import moved
from firstcause.record import ranked
from firstcause.record.folder import RunFolder
from firstcause.record.supervise import launch
from firstcause.sandbox import bounded
from firstcause.sandbox.confine import command_for
from firstcause.sandbox.program_copy import copy_of

AUDIT = "firstcause.lab.ranked.watch:Audit"
# Nothing moved for so long, no line and no collective, while all ranks wait for another; or while one of them does, and
# another may compute or import something large.
STALL_SECONDS, ALONE_SECONDS = 4.0, 40.0
# What torchrun gets to end its workers by itself.
GRACE_SECONDS = 2.0
POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Ranks:
    """What the ranks did: how the command ended (None: stopped), whether they stood still, and each rank's facts and way.

    ``why`` says why there is nothing.
    """

    code: int | None = None
    stood_still: bool = False
    standings: tuple[dict[str, Any], ...] = ()
    ways: dict[int, rings.Way] = field(default_factory=dict)
    why: str = ""
    seconds: float = 0.0
    said: str = ""

    @property
    def failed(self) -> bool:
        return self.stood_still or self.code != 0


def again(folder: RunFolder, seconds: float) -> Ranks:
    """Run the command of ``folder`` again for at most ``seconds``; what it writes goes with the copy."""
    run = folder.run()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="firstcause-ranks-", ignore_cleanup_errors=True) as temporary:
        scratch = os.path.realpath(temporary)
        copy, record = os.path.join(scratch, "copy"), os.path.join(scratch, "run")
        try:
            copy_of(run.folder, copy)
            os.makedirs(record)
            command = [moved(word, run.folder, copy) for word in run.command]
            with open(os.path.join(scratch, "output"), "w+b") as output:
                confined = command_for(scratch, command)
                process = bounded.start(confined, copy, _environment(record, copy), output)
                try:
                    code, still = _watched(process, record, began + seconds)
                finally:
                    _end(process, record)
                output.seek(0)
                said = output.read(1 << 20).decode(errors="replace").strip()
        except (OSError, FirstcauseError) as error:
            return Ranks(why=f"it could not be started: {error}")
        found = json.loads(json.dumps(_inside(ranked.standings(record), copy)).replace(copy, run.folder))
        ways = {
            s["rank"]: rings.read(os.path.join(record, ranked.FOLDER, str(s["rank"])), (copy, run.folder))
            for s in found
        }
        why = ""
        if not found:
            why = (
                f"no rank of it joined a group ({said.splitlines()[-1][:200] if said else 'it said nothing'})"
            )
        elif code is None and not still:
            why = f"it was not over after {seconds:.0f} s"
        return Ranks(code, still, tuple(found), ways, why, time.monotonic() - began, said[-4000:])


def _environment(record: str, copy: str) -> dict[str, str]:
    own = {k: v for k, v in os.environ.items() if not k.startswith("FIRSTCAUSE_")}
    given = launch.environment(record, {"FIRSTCAUSE_RANKS": AUDIT})
    extra = {k: v for k, v in given.items() if k not in own or k == "PYTHONPATH"}
    return own | extra | {"PWD": copy, "PYTHONDONTWRITEBYTECODE": "1"}


def _watched(process: subprocess.Popen[bytes], record: str, end: float) -> tuple[int | None, bool]:
    """The exit code, and whether the ranks stood still; they are looked at until one of these is known."""
    moved, last = time.monotonic(), ""
    while time.monotonic() < end:
        try:
            return process.wait(POLL_SECONDS), False
        except subprocess.TimeoutExpired:
            now = _progress(record)
        if now != last:
            moved, last = time.monotonic(), now
        else:
            still = time.monotonic() - moved
            some, every = _waiting(record) if still > STALL_SECONDS else (False, False)
            if some and (every or still > ALONE_SECONDS):
                return None, True
    return None, False


def _progress(record: str) -> str:
    """Something that differs as soon as any rank has done anything."""
    found = []
    for path in sorted(glob.glob(os.path.join(glob.escape(record), ranked.FOLDER, "*", rings.LINES))):
        with open(path, "rb") as file:
            found.append(file.read(rings.HEADER.size).hex())
    found += [
        f"{len(s['calls'])} {s['calls'][-1]['seq'] if s['calls'] else ''}" for s in ranked.standings(record)
    ]
    return " ".join(found)


def _waiting(record: str) -> tuple[bool, bool]:
    """Whether any rank waits in a collective, and whether each one does that or has ended."""
    found = ranked.standings(record)
    waits = [bool(s["calls"]) and s["calls"][-1]["waiting"] and not s["ended"] for s in found]
    return any(waits), all(w or s["ended"] for w, s in zip(waits, found, strict=True))


def _inside(found: list[dict[str, Any]], copy: str) -> list[dict[str, Any]]:
    """Of the files that a rank wrote, those in the program's own folder: the others are of its libraries, or ours."""
    for standing in found:
        files = (standing.get("audit") or {}).get("files") or {}
        for kind, own in files.items():
            files[kind] = [f for f in own if f["path"].startswith(copy + os.sep)]
    return found


def _end(process: subprocess.Popen[bytes], record: str) -> None:
    """End the command and all that it started, workers in sessions of their own too: they carry the record's name."""
    if process.poll() is None:
        bounded.stop(process, GRACE_SECONDS)
    mark = f"FIRSTCAUSE_RUN={record}\0".encode()
    for name in os.listdir("/proc") if sys.platform == "linux" else ():
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                ours = mark in file.read() + b"\0"
            if ours:
                os.kill(int(name), signal.SIGKILL)
        except OSError:
            # It has ended meanwhile, or is another user's.
            continue
