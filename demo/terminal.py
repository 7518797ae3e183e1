"""A pseudo-terminal at which a scripted person types ``firstcause`` commands and answers what they ask."""

from __future__ import annotations

import codecs
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

FIRSTCAUSE = [sys.executable, "-m", "firstcause"]
# A step takes 2 to 4 s on an idle core; one that takes this long has gone wrong.
LIMIT_SECONDS = 120
COLOR = re.compile(r"\x1b\[[0-9;]*m")
# Which question gets which answer; None stands for the word that the question itself shows.
ANSWERS = (
    (re.compile(r"Run it\? \[y/N\]$"), "y"),
    (re.compile(r"Type (\w+) to approve [^>]*>$"), None),
    (re.compile(r"\(t\), or broader \(b\)\? >$"), "t"),
    (re.compile(r"\(y\), or [^>]*\? >$"), "y"),
)


class Stuck(Exception):
    """A command did not come to its end."""


class Terminal:
    """A folder to work in, and a pseudo-terminal for each command that is typed there.

    ``scratch`` is where the commands put temporary files.
    """

    def __init__(self, folder: Path, scratch: Path) -> None:
        self.folder = folder
        self.environment = {
            **os.environ,
            # `python` is the one that plays this, whether its environment is activated or not.
            "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", os.defpath),
            "COLUMNS": str(min(shutil.get_terminal_size().columns, 100)),
            # torch leaves an empty folder there.
            "TMPDIR": str(scratch),
            "TERM": os.environ.get("TERM") or "xterm",
            # Models this small gain nothing from threads, and lose much where other programs are busy.
            "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
        }
        if not sys.stdout.isatty() and not os.environ.get("FORCE_COLOR"):
            # A file keeps what a terminal would write over.
            self.environment |= {"NO_COLOR": "1", "TERM": "dumb"}

    def type(self, *words: str) -> tuple[int, str]:
        """Run ``firstcause`` with these words; its exit code, and the screen's text, which is shown as it comes.

        Raises ``Stuck`` where it does not end.
        """
        shown = " ".join(f'"{word}"' if " " in word else word for word in words)
        say(f"\n$ firstcause {shown}\n")
        ours, theirs = pty.openpty()
        look = termios.tcgetattr(theirs)
        # Lines end as they are written, and an answer is shown once, by us, as what it is.
        look[1] &= ~termios.OPOST
        look[3] &= ~termios.ECHO
        termios.tcsetattr(theirs, termios.TCSANOW, look)
        process = subprocess.Popen(
            [*FIRSTCAUSE, *words],
            cwd=self.folder,
            env=self.environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        try:
            screen = self._watch(ours)
            return process.wait(timeout=10), screen
        finally:
            os.close(ours)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run ``firstcause`` with these words behind the scenes, with no terminal."""
        return subprocess.run(
            [*FIRSTCAUSE, *words],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
        )

    def _watch(self, ours: int) -> str:
        """Show what appears and answer what is asked, until the last process on the terminal has left it."""
        screen, answered, deadline = "", 0, time.monotonic() + LIMIT_SECONDS
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Stuck(f"the command had not ended after {LIMIT_SECONDS} s")
            if not select.select([ours], [], [], left)[0]:
                continue
            try:
                data = os.read(ours, 1 << 16)
            except OSError:
                # Linux says EIO where other systems say end of file.
                data = b""
            if not data:
                return COLOR.sub("", screen)
            text = decoder.decode(data)
            screen += text
            say(text)
            answer = answer_to(screen[answered:])
            if answer is not None:
                say(f"[scripted answer] {answer}\n")
                os.write(ours, answer.encode() + b"\n")
                answered = len(screen)


def answer_to(asked: str) -> str | None:
    """What the scripted person types at the end of this text, or None where it asks nothing."""
    flat = " ".join(COLOR.sub("", asked).split())
    for question, answer in ANSWERS:
        match = question.search(flat)
        if match:
            return answer or match[1]
    return None


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
