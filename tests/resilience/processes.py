"""Commands of firstcause as real processes, each with a mark by which all that it starts is found again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

MARK = "RESILIENCE_MARK"
FIRSTCAUSE = (sys.executable, "-m", "firstcause")


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it printed."""

    code: int
    stdout: str
    stderr: str

    @property
    def said(self) -> list[str]:
        return [line for line in self.stderr.splitlines() if line.startswith("firstcause: ")]


def environment(**extra: str) -> dict[str, str]:
    ours = ("PYTEST", "PYTHON", "FIRSTCAUSE", "COVERAGE")
    plain = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
    return {**plain, "PATH": path, "OMP_NUM_THREADS": "1", "COLUMNS": "200", **extra}


def firstcause(cwd: Path, *words: str, prefix: Sequence[str] = (), **extra: str) -> Done:
    """Run one command of ours to its end."""
    return command([*prefix, *FIRSTCAUSE, *words], cwd, **extra)


def command(words: Sequence[str], cwd: Path, **extra: str) -> Done:
    done = subprocess.run(
        words,
        cwd=cwd,
        env=environment(**extra),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


class Started:
    """A command that runs, in a session of its own."""

    def __init__(self, words: Sequence[str], cwd: Path) -> None:
        self.mark = uuid.uuid4().hex
        self._output = open(cwd / f"output-{self.mark}", "w+b")  # noqa: SIM115
        self.process = subprocess.Popen(
            words,
            cwd=cwd,
            env=environment(**{MARK: self.mark}),
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._output,
            start_new_session=True,
        )

    def output(self) -> str:
        self._output.seek(0)
        return self._output.read().decode(errors="replace")

    def command_of(self) -> int | None:
        """The process of the user's command: the child whose command line is not the supervisor's."""
        own = _bytes(f"/proc/{self.process.pid}/cmdline")
        children = _bytes(f"/proc/{self.process.pid}/task/{self.process.pid}/children").split()
        others = [int(c) for c in children if _bytes(f"/proc/{int(c)}/cmdline") not in (own, b"")]
        return others[0] if others else None

    def left(self) -> list[str]:
        """What of it still runs two seconds after its end: command lines."""
        end = time.monotonic() + 2
        while (found := self._marked()) and time.monotonic() < end:
            time.sleep(0.02)
        return found

    def _marked(self) -> list[str]:
        wanted = f"{MARK}={self.mark}".encode()
        found = []
        for name in os.listdir("/proc"):
            if name.isdigit() and wanted in _bytes(f"/proc/{name}/environ").split(b"\0"):
                found.append(f"{name} {_bytes(f'/proc/{name}/cmdline')!r}")
        return found


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def kill(process: int | None) -> None:
    if process is not None:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            return


def until(holds: Callable[[], bool], seconds: float = 120.0) -> None:
    """Wait for a condition; raises ``TimeoutError`` where it does not come."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"it did not come within {seconds} s")
        time.sleep(0.01)
