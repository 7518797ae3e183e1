"""Starting a command on pipes or on a terminal, and waiting for its end."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

LIMIT_S = 120


def on_pipes(
    command: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes | None,
    signal: int | None,
    to_group: bool = False,
) -> tuple[int, bytes, bytes]:
    """Exit status, stdout and stderr; the signal is sent once "ready" stands on stdout."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    # Unbuffered, since communicate() would not see what a buffer has read ahead.
    with subprocess.Popen(
        command, cwd=cwd, env=env, bufsize=0, start_new_session=to_group, **pipes
    ) as process:
        try:
            head = b""
            while signal is not None and b"ready" not in head:
                line = process.stdout.readline()
                if not line:
                    break
                head += line
            if signal is not None and to_group:
                os.killpg(process.pid, signal)
            elif signal is not None:
                process.send_signal(signal)
            out, err = process.communicate(stdin, timeout=LIMIT_S)
        except BaseException:
            process.kill()
            raise
    return process.returncode, head + out, err


def on_terminal(
    command: Sequence[str], cwd: Path, env: Mapping[str, str], typed: Sequence[bytes]
) -> tuple[int, bytes]:
    """Exit status and all output of a session leader on a terminal; each text is typed at one more "ready"."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 90, 0, 0))

    def take_terminal() -> None:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    streams = dict.fromkeys(("stdin", "stdout", "stderr"), slave)
    process = subprocess.Popen(
        command, cwd=cwd, env=env, start_new_session=True, preexec_fn=take_terminal, **streams
    )
    os.close(slave)
    waiting = list(typed)
    output, end = b"", time.monotonic() + LIMIT_S
    os.set_blocking(master, False)
    while time.monotonic() < end:
        ended = process.poll() is not None
        try:
            chunk = os.read(master, 65536)
        except BlockingIOError:
            chunk = b""
        except OSError:
            break  # Linux says EIO when the last holder of the terminal has gone.
        output += chunk
        if waiting and output.count(b"ready") > len(typed) - len(waiting):
            os.write(master, waiting.pop(0))
        if not chunk:
            if ended:
                break
            time.sleep(0.02)
    os.close(master)
    if process.poll() is None:
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return process.returncode, output
