"""A line at the terminal while a command works: what it does, how long it has taken, and how much time is left at most."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from firstcause.report.plain import cropped, one_line
from firstcause.report.spans import span

if TYPE_CHECKING:
    from firstcause.lab.counterfactual import Lab

# Nothing is said of what ends soon.
AFTER, EVERY = 1.5, 0.5
_CLEAR = "\r\x1b[2K"


class Progress:
    """Writes to standard error, and only where that is a terminal; ``stage`` says what is being done."""

    def __init__(self, name: str, seconds: float, stage: Callable[[], str]) -> None:
        self.name, self.seconds, self.stage = name, seconds, stage
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._shown = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True, name="firstcause-progress")

    def line(self) -> str:
        """What is shown now."""
        took = time.monotonic() - self._began
        parts = [f"{self.name}: {span(took)}", f"at most {span(self.seconds - took)} left"]
        return " · ".join(filter(None, [*parts, one_line(self.stage())]))

    @contextmanager
    def silent(self) -> Iterator[None]:
        """The line is away while something else is written or asked."""
        with self._lock:
            self._clear()
            yield

    def begin(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        self._thread.join()
        self._clear()

    def _tick(self) -> None:
        wait = AFTER
        while not self._ended.wait(wait):
            wait = EVERY
            with self._lock:
                width = shutil.get_terminal_size().columns
                sys.stderr.write(f"{_CLEAR}{cropped(self.line(), width - 1)}")
                sys.stderr.flush()
                self._shown = True

    def _clear(self) -> None:
        if self._shown:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()
            self._shown = False


def stage(labs: Sequence[Lab]) -> str:
    """The experiment that was begun last."""
    asked = [arms for lab in labs for _, arms in lab.asked]
    return f"experiment {len(asked)}: {asked[-1][-1].name}" if asked and asked[-1] else ""


@contextmanager
def progress(
    name: str, seconds: float, quiet: bool = False, stage: Callable[[], str] = lambda: ""
) -> Iterator[Progress]:
    """Show how a command of at most so many seconds gets on; nothing where nobody looks, or where no line can be rewritten."""
    shown = Progress(name, seconds, stage)
    if quiet or sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield shown
        return
    shown.begin()
    try:
        yield shown
    finally:
        shown.end()
