"""A command that is run again for at most so long, and stopped with all that it started."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from typing import IO

from firstcause.sandbox import lifetime

# What a stopped command gets to write its record.
GRACE_SECONDS = 5.0
# Of its output, the last bytes are kept.
SAID = 4000


def start(
    command: Sequence[str], folder: str, environment: Mapping[str, str], output: IO[bytes]
) -> subprocess.Popen[bytes]:
    """A command in a session of its own, without input, that dies with this process; raises ``OSError``."""
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
        preexec_fn=lifetime.bound(),
    )


def run(
    command: Sequence[str], folder: str, seconds: float, environment: Mapping[str, str]
) -> tuple[int | None, str]:
    """The exit code of a command, None where it took longer and was stopped, and the end of its output.

    It has a session of its own, no input, and dies with this process. Raises ``OSError`` where it cannot be started.
    """
    with tempfile.TemporaryFile() as out:
        process = start(command, folder, environment, out)
        try:
            code: int | None = process.wait(timeout=max(seconds, 0.1))
        except subprocess.TimeoutExpired:
            code = None
            stop(process)
        except BaseException:
            stop(process)
            raise
        out.seek(max(0, out.tell() - SAID))
        return code, out.read().decode(errors="replace")


def stop(process: subprocess.Popen[bytes], grace: float = GRACE_SECONDS) -> None:
    """End a command and its group: politely, so that a record is written, and after ``grace`` seconds for good."""
    for number, wait in ((signal.SIGTERM, grace), (signal.SIGKILL, GRACE_SECONDS)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(timeout=wait)
        except subprocess.TimeoutExpired:
            continue
    process.wait()
