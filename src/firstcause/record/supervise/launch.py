"""Start a command so that every Python in it, whoever starts it, is observed through the environment alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass

from firstcause.errors import InputError
from firstcause.record.supervise.output import Output
from firstcause.record.supervise.relay import Relay

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOOK = os.path.join(PACKAGE, "record", "hook")
DEEP = "firstcause.lab.trace:Trace"


@dataclass(frozen=True)
class Ending:
    """How the command ended: its exit code or the signal that ended it, and the seconds it took."""

    exit_code: int | None
    signal: int | None
    seconds: float


def resolve(command: list[str]) -> list[str]:
    """The command as it is started: a script alone, or ``-m module``, is given to Python.

    Raises ``InputError`` where there is no such program.
    """
    first = command[0]
    if first == "-m" or first.endswith(".py"):
        if first != "-m" and not os.path.isfile(first):
            raise InputError("no-such-script", f"there is no file {first} in {os.getcwd()}", "check the path")
        return [python(), *command]
    if shutil.which(first) is None:
        raise InputError(
            "no-such-command",
            f"there is no command {first} on the PATH",
            "give the command as you would type it",
        )
    return command


def python() -> str:
    """The user's Python: that of the active virtual environment, else the one that runs firstcause."""
    active = os.environ.get("VIRTUAL_ENV")
    python = os.path.join(active, "bin", "python") if active else ""
    return python if python and os.path.exists(python) else sys.executable


def environment(folder: str, extra: dict[str, str]) -> dict[str, str]:
    """The environment that reaches every Python of the command."""
    path = os.environ.get("PYTHONPATH")
    return {
        **os.environ,
        # Before the user's own entries, which stay as they are.
        "PYTHONPATH": HOOK + (os.pathsep + path if path else ""),
        "FIRSTCAUSE_RUN": folder,
        "FIRSTCAUSE_HOME": os.path.dirname(PACKAGE),
        "FIRSTCAUSE_DEEP": DEEP,
        **extra,
    }


def start(
    command: list[str], folder: str | None, extra: dict[str, str], output: Output | None = None
) -> Ending:
    """Run the command to its end with this process's own standard streams, or with those that ``output`` reads.

    Where ``folder`` is None it runs unobserved. Signals reach it as they would without us, and where we are killed, it is too.
    """
    began = time.monotonic()
    streams = output.streams if output is not None else {}
    with Relay() as relay:
        try:
            process = subprocess.Popen(
                command,
                env=environment(folder, extra) if folder is not None else None,
                stdout=streams.get(1),
                stderr=streams.get(2),
                preexec_fn=relay.start,
            )
        except OSError as error:
            raise InputError(
                "cannot-start",
                f"{command[0]} cannot be started: {error}",
                "give the command as you would type it",
            ) from error
        relay.watch()
        if output is not None:
            output.started()
        code = relay.wait(process)
    seconds = time.monotonic() - began
    return Ending(None, -code, seconds) if code < 0 else Ending(code, None, seconds)
