"""Start a command so that every Python in it, whoever starts it, is observed through the environment alone."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

from firstcause.errors import InputError
from firstcause.record.supervise.output import Output

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOOK = os.path.join(PACKAGE, "record", "hook")
DEEP = "firstcause.lab.trace:Trace"
FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT)


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
        return [_python(), *command]
    if shutil.which(first) is None:
        raise InputError(
            "no-such-command",
            f"there is no command {first} on the PATH",
            "give the command as you would type it",
        )
    return command


def _python() -> str:
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


def start(command: list[str], folder: str, extra: dict[str, str], output: Output | None = None) -> Ending:
    """Run the command to its end with this process's own standard streams, or with those that ``output`` reads.

    Ctrl-C reaches the command from the terminal; other signals are passed on to it.
    """
    began = time.monotonic()
    held: list[int] = []
    process: list[subprocess.Popen[bytes]] = []

    def forward(number: int, frame: object) -> None:
        if process:
            process[0].send_signal(number)
        else:
            held.append(number)

    handlers = dict.fromkeys(FORWARDED, forward) | {signal.SIGINT: lambda number, frame: None}
    # What is ignored here, under nohup or in the background of a script, stays ignored in the command.
    heard = {s: h for s, h in handlers.items() if signal.getsignal(s) is not signal.SIG_IGN}
    before = {s: signal.signal(s, h) for s, h in heard.items()}
    try:
        # SIGINT is handled, not ignored, here: an ignored signal would stay ignored in the command.
        streams = output.streams if output is not None else {}
        process.append(
            subprocess.Popen(
                command, env=environment(folder, extra), stdout=streams.get(1), stderr=streams.get(2)
            )
        )
        if output is not None:
            output.started()
        for number in held:
            process[0].send_signal(number)
        code = process[0].wait()
    except OSError as error:
        raise InputError(
            "cannot-start",
            f"{command[0]} cannot be started: {error}",
            "give the command as you would type it",
        ) from error
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    seconds = time.monotonic() - began
    return Ending(None, -code, seconds) if code < 0 else Ending(code, None, seconds)
