"""The checks, one line each: of the machine and the folder from here, of the program's Python from a child."""

from __future__ import annotations

import os
import platform
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from firstcause.errors import FirstcauseError
from firstcause.record import kept_runs, settings
from firstcause.record.doctor import interpreter
from firstcause.record.folder import HOME, STAMP
from firstcause.record.sizes import size
from firstcause.sandbox import landlock, memory

Status = Literal["works", "limited", "missing"]
LEAST_DISK = 50 * 10**6
LEAST_MEMORY = 512 << 20
SKEW_SECONDS = 2.0
# Since these versions of its interface Landlock also denies the network, and signals to others.
WITH_NETWORK, WITH_SIGNALS = 4, 6


@dataclass(frozen=True)
class Check:
    """One thing that was tried: whether it works, what was seen, and what to do where it does not."""

    name: str
    status: Status
    text: str
    hint: str = ""


def checks(cwd: str) -> Iterator[Check]:
    """All checks for a folder; none of them imports torch here or touches a GPU."""
    yield _system()
    yield from interpreter_checks(interpreter.look())
    for check in (_landlock, _memory, _cuda, _stacks):
        yield _tried(check.__name__.strip("_"), check)
    for place in (_writing, _disk, _clock, _settings, _runs):
        yield _tried(place.__name__.strip("_"), lambda place=place: place(cwd))  # type: ignore[misc]


def interpreter_checks(seen: dict[str, Any]) -> Iterator[Check]:
    """What the child has seen in the program's Python."""
    who = seen["python"]
    if "version" not in seen:
        yield Check("python", "missing", f"{who} does not start: {seen['why']}", "activate your environment")
        return
    version = tuple(int(n) for n in seen["version"].split(".")[:2])
    old = version < (3, 10)
    yield Check(
        "python", "missing" if old else "works", f"{seen['version']} at {who}", "3.10 or newer" if old else ""
    )
    if seen.get("hook"):
        yield Check(
            "start-up hook", "works", "it reaches every Python that is started below `firstcause run`"
        )
    else:
        why = seen.get("why") or "sitecustomize is not read from PYTHONPATH"
        yield Check(
            "start-up hook", "missing", f"it does not arm {who}: {why}", "unset PYTHONNOUSERSITE, -I and -S"
        )
    if "torch" not in seen:
        said = seen.get("no_torch", seen.get("why", "it was not tried"))
        yield Check(
            "torch",
            "missing",
            f"it cannot be imported by {who}: {said}",
            "activate the environment that has it",
        )
        return
    built = f"built for CUDA {seen['cuda']}" if seen.get("cuda") else "built for the CPU"
    yield Check("torch", "works", f"{seen['torch']}, {built}, {seen['threads']} threads")
    if seen.get("fork") == "works":
        yield Check(
            "replay", "works", "a process whose torch has used several threads can be forked and computes on"
        )
    else:
        why = seen.get("fork", seen.get("why", "it was not tried"))
        hint = "firstcause replay runs the step in a fresh process"
        yield Check("replay", "limited", f"no replay on the spot: the forked process {why}", hint)
    if seen["threads"] > 1:
        text = f"a replay runs on one thread, the program on {seen['threads']}: the last bits of long sums may differ"
        yield Check("exactness", "limited", text, "OMP_NUM_THREADS=1 where replays must be exact")
    else:
        yield Check("exactness", "works", "program and replay run on one thread")


def _tried(name: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except (OSError, ValueError, FirstcauseError) as error:
        return Check(name, "limited", f"it could not be told: {error}")


def _system() -> Check:
    name = f"{platform.system()} {platform.release()}, {os.cpu_count()} processors"
    if sys.platform == "linux":
        return Check("system", "works", name)
    return Check("system", "missing", f"{name}: only Linux is observed", "run it on Linux")


def _landlock() -> Check:
    try:
        version = landlock.version()
    except OSError as error:
        text = f"replays are sealed in Python only: the kernel says {error.strerror}"
        return Check("landlock", "limited", text, "a kernel from 5.13 on with landlock in its lsm= list")
    lacks = [what for since, what in ((WITH_NETWORK, "TCP"), (WITH_SIGNALS, "signals")) if version < since]
    if lacks:
        text = (
            f"version {version}: the kernel denies writes, but not {' and '.join(lacks)}, which Python denies"
        )
        return Check("landlock", "limited", text, "a newer kernel")
    return Check(
        "landlock", "works", f"version {version}: the kernel denies writes, network and signals to a replay"
    )


def _memory() -> Check:
    free = memory.headroom()
    text = f"{size(free)} are free in this control group and machine"
    if free >= LEAST_MEMORY:
        return Check("memory", "works", f"{text}; a replay needs half of what the program holds")
    return Check(
        "memory",
        "limited",
        f"{text}: too little for a replay of most programs",
        "free memory, or raise its limit",
    )


def _cuda() -> Check:
    devices = sorted(n for n in os.listdir("/dev") if n.startswith("nvidia") and n[6:].isdigit())
    if not devices:
        return Check("cuda", "works", "no GPU is seen: programs run on the CPU")
    text = f"{len(devices)} GPUs are seen, none was touched; a failing step on one is recorded, but not replayed on the spot"
    return Check("cuda", "limited", text, "firstcause replay --device cpu")


def _stacks() -> Check:
    beside = os.path.join(os.path.dirname(sys.executable), "py-spy")
    found = shutil.which("py-spy") or (beside if os.access(beside, os.X_OK) else None)
    if found is None:
        return Check(
            "py-spy",
            "limited",
            "not found: the stack of a program that hangs cannot be read",
            "pip install py-spy",
        )
    scope = _first_line("/proc/sys/kernel/yama/ptrace_scope")
    if scope not in ("", "0") and os.geteuid() != 0:
        text = f"{found}, but ptrace_scope is {scope}: it reads only what it has started itself"
        return Check("py-spy", "limited", text, "sysctl kernel.yama.ptrace_scope=0, or sudo")
    return Check("py-spy", "works", found)


def _writing(cwd: str) -> Check:
    place = _place(cwd)
    try:
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(b"x")
            file.flush()
    except OSError as error:
        text = f"{place} cannot be written: {error.strerror}"
        return Check("writing", "missing", text, "firstcause run -o FOLDER records elsewhere")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if limit != resource.RLIM_INFINITY:
        text = f"files may have {size(limit)} (ulimit -f): the state of a failing step is not kept"
        return Check("writing", "limited", text, "ulimit -f unlimited")
    return Check("writing", "works", f"records go to {os.path.join(cwd, HOME)}")


def _disk(cwd: str) -> Check:
    found = os.statvfs(_place(cwd))
    free, wanted = found.f_bavail * found.f_frsize, 2 * settings.Settings().snapshot_size
    if free < LEAST_DISK:
        return Check("disk", "missing", f"{size(free)} are free", f"free {size(wanted)}, or -o FOLDER")
    if free < wanted:
        text = f"{size(free)} are free, and a snapshot takes no more than half of it"
        return Check("disk", "limited", text, f"free {size(wanted)}, or -o FOLDER")
    return Check("disk", "works", f"{size(free)} are free")


def _clock(cwd: str) -> Check:
    place = _place(cwd)
    with tempfile.NamedTemporaryFile(dir=place if os.access(place, os.W_OK) else None) as file:
        skew = os.fstat(file.fileno()).st_mtime - time.time()
    if abs(skew) > SKEW_SECONDS:
        text = f"the clock of the file system is {abs(skew):.0f} s {'ahead' if skew > 0 else 'behind'}"
        return Check("clock", "limited", text, "set both by the same time server")
    runs = os.path.join(cwd, HOME, "runs")
    newest = (
        max((n[:15] for n in os.listdir(runs) if n[:8].isdigit()), default="") if os.path.isdir(runs) else ""
    )
    if newest > time.strftime(STAMP):
        text = f"the newest run is of {newest}, which is still to come: the clock was set back"
        return Check("clock", "limited", text, "runs keep their order; their times are wrong")
    return Check("clock", "works", f"{time.strftime('%Y-%m-%d %H:%M:%S %Z')}, as the file system's")


def _settings(cwd: str) -> Check:
    try:
        own = settings.read(cwd)
    except FirstcauseError as error:
        return Check("settings", "missing", error.message, error.hint)
    text = f"{own.keep_runs} runs and {size(own.keep_size)} are kept, a snapshot takes up to {size(own.snapshot_size)}"
    return Check("settings", "works", f"{text}{', no data is kept' if own.no_data else ''}")


def _runs(cwd: str) -> Check:
    known = kept_runs.listed(cwd)
    unread = [one.id for one in known if one.problem]
    if unread:
        text = f"{len(unread)} of {len(known)} runs cannot be read, the first is {unread[0]}"
        return Check("runs", "limited", text, "firstcause runs list")
    return Check("runs", "works", f"{len(known)} runs, {size(sum(one.bytes for one in known))}")


def _place(cwd: str) -> str:
    home = os.path.join(cwd, HOME)
    return home if os.path.isdir(home) else cwd


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.readline().strip()
    except OSError:
        return ""
