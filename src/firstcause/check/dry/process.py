"""The sealed child of one program: started with its limits, watched by the clock, and gone with all it wrote."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from typing import Any

from firstcause.check.dry.commands import Command
from firstcause.sandbox import lifetime
from firstcause.sandbox.memory import headroom

# Of its own processor time; the clock is for whoever sleeps or waits.
SECONDS = 45.0
WALL = 60.0
# What the child has left to say what it saw, and to go.
GOING = 8.0
MEMORY = 8 << 30
LARGEST_FILE = 1 << 30
# A program that ends where its loops were too short for it is run once more, with loops so many times as long, if so
# many seconds are left.
PATIENCE = 16
AGAIN = 8.0
SAID = 2000


@dataclass
class Dry:
    """What one program did: findings and judgements as the child told them, notes, how it ended, and what it cost."""

    command: Command
    findings: list[dict[str, Any]] = field(default_factory=list)
    judged: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    end: dict[str, Any] = field(default_factory=dict)
    cpu: float = 0.0


def run_dry(command: Command, folder: str, wall: float = WALL) -> Dry:
    """Run a program dry; ``folder`` is the user's, and nothing is written to it.

    Raises ``OSError`` where no process can be started.
    """
    end = time.monotonic() + wall
    first = _run(command, folder, wall)
    left = end - time.monotonic()
    if not first.end.get("cut") or left < AGAIN:
        return first
    second = _run(command, folder, left, PATIENCE)
    told = first if second.end.get("cut") or second.end["outcome"] in ("time", "lost") else second
    told.cpu = first.cpu + second.cpu
    return told


def _run(command: Command, folder: str, wall: float, patience: int = 1) -> Dry:
    scratch = tempfile.mkdtemp(prefix="firstcause-dry-")
    reading, writing = os.pipe()
    process = None
    try:
        job = {
            "script": command.script,
            "arguments": list(command.arguments),
            "folder": folder,
            "search": [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p],
            "scratch": os.path.join(scratch, "layer"),
            "seconds": min(SECONDS, wall * 0.75),
            "until": time.monotonic() + wall - min(GOING, wall / 4),
            "launched": command.ranks,
            "patience": patience,
            "channel": writing,
        }
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        bound = lifetime.bound()

        def limits() -> None:
            bound()
            _limit(resource.RLIMIT_CPU, int(wall) + 2)
            _limit(resource.RLIMIT_DATA, min(MEMORY, max(headroom(), 1 << 30)))
            _limit(resource.RLIMIT_FSIZE, LARGEST_FILE)

        process = subprocess.Popen(
            [sys.executable, "-I", "-m", "firstcause.check.dry.child", json.dumps(job)],
            cwd=command.cwd,
            env=_environment(scratch),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=(writing,),
            start_new_session=True,
            preexec_fn=limits,
        )
        os.close(writing)
        writing = -1
        told, said = _until_end(process, reading, wall)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return _read(command, told, said, process.returncode, spent)
    finally:
        if process is not None:
            _kill(process)
        for descriptor in (reading, writing):
            if descriptor >= 0:
                os.close(descriptor)
        shutil.rmtree(scratch, ignore_errors=True)


def _until_end(process: subprocess.Popen[bytes], reading: int, wall: float) -> tuple[bytes, bytes]:
    import selectors

    assert process.stderr is not None
    told, said, end = b"", b"", time.monotonic() + wall
    with selectors.DefaultSelector() as waiting:
        waiting.register(reading, selectors.EVENT_READ)
        waiting.register(process.stderr.fileno(), selectors.EVENT_READ)
        while waiting.get_map() and time.monotonic() < end:
            for key, _ in waiting.select(max(0.0, end - time.monotonic())):
                block = os.read(key.fd, 1 << 16)
                if not block:
                    waiting.unregister(key.fd)
                elif key.fd == reading:
                    told += block
                else:
                    said = (said + block)[-SAID:]
    if time.monotonic() < end:
        try:
            process.wait(max(0.1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            _kill(process)
    else:
        _kill(process)
    return told, said


def _read(command: Command, told: bytes, said: bytes, code: int | None, spent: float) -> Dry:
    dry = Dry(command, cpu=spent)
    for line in told.split(b"\n"):
        try:
            event = json.loads(line) if line else None
        except ValueError:
            # Cut short as the child was ended.
            continue
        if not isinstance(event, dict):
            continue
        kind = event.get("kind")
        if kind == "finding":
            dry.findings.append(event)
        elif kind == "judged":
            dry.judged.append(event)
        elif kind == "note":
            dry.notes.append(str(event["text"]))
        elif kind == "end":
            dry.end = event
    if not dry.end:
        last = said.decode(errors="replace").strip().splitlines()[-1:] or [""]
        dry.end = {"outcome": "lost", "place": ["", 0], "why": _lost(code, last[0])}
    return dry


def _lost(code: int | None, last: str) -> str:
    if code == -signal.SIGKILL:
        return "it did not end in time, or used too much memory, and was killed"
    if code is not None and code < 0:
        return f"its process was ended by signal {-code}"
    return f"its process ended with code {code}{': ' + last if last else ''}"


def _kill(process: subprocess.Popen[bytes]) -> None:
    # The session: whatever it started, though it may start nothing; all gone already, as a rule.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stderr is not None:
        process.stderr.close()


def _environment(scratch: str) -> dict[str, str]:
    quiet = {
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        # In the program's own thread: the emulated device is known to no other.
        "HF_DEACTIVATE_ASYNC_LOAD": "1",
        "WANDB_MODE": "disabled",
        "MPLBACKEND": "Agg",
        "TOKENIZERS_PARALLELISM": "false",
        "PYTHONHASHSEED": "0",
        "TMPDIR": scratch,
    }
    return os.environ | quiet


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))
