"""Where the threads of a Python process stand, by py-spy, which reads a process's memory and leaves it as it is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

SECONDS = 20.0


@dataclass(frozen=True)
class Frame:
    """One frame: file, line and function."""

    file: str
    line: int
    function: str


@dataclass(frozen=True)
class Stacks:
    """The main thread's frames and those of every other thread by name, innermost first; or why there are none."""

    main: tuple[Frame, ...] = ()
    others: tuple[tuple[str, tuple[Frame, ...]], ...] = ()
    why: str = ""


def py_spy() -> str | None:
    """The py-spy of the active environment, or of the PATH."""
    beside = os.path.join(os.path.dirname(sys.executable), "py-spy")
    return beside if os.path.exists(beside) else shutil.which("py-spy")


def stacks(pid: int) -> Stacks:
    """The stacks of one process."""
    tool = py_spy()
    if tool is None:
        return Stacks(why="py-spy is not installed: pip install py-spy")
    try:
        done = subprocess.run(
            [tool, "dump", "--json", "--pid", str(pid)],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        threads: list[dict[str, Any]] = json.loads(done.stdout or "[]")
    except subprocess.TimeoutExpired:
        return Stacks(why=f"py-spy did not answer within {SECONDS:.0f} s")
    except ValueError as error:
        return Stacks(why=f"py-spy's answer cannot be read: {error}")
    if not threads:
        said = done.stderr.strip().splitlines()
        return Stacks(why=said[-1] if said else "py-spy saw no thread of Python's")
    named = [(str(t.get("thread_name") or "thread"), _frames(t)) for t in threads]
    # The main thread has the process's own number.
    main = next((n for n, t in enumerate(threads) if t.get("os_thread_id") == pid), 0)
    return Stacks(named[main][1], tuple(named[:main] + named[main + 1 :]))


def _frames(thread: dict[str, Any]) -> tuple[Frame, ...]:
    return tuple(
        Frame(str(f["filename"]), int(f["line"]), str(f["name"]))
        for f in thread.get("frames") or ()
        if not f.get("is_shim_entry") or f["filename"] != "<shim>"
    )
