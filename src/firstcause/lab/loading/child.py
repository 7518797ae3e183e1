"""A fork of the sealed process that does one thing and tells of it line by line, until it is done, dies or hangs."""

from __future__ import annotations

import json
import mmap
import os
import posix
import select
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

from firstcause.sandbox import fork, lifetime, refusal, sleep

Facts = dict[str, Any]
Tell = Callable[[Facts], None]
# Where a child stands is written into memory that it shares with its parent: this survives every death.
ROOM = 4096


class Child:
    """``work`` in a process of its own; ``answers`` gives what it told. Afterwards ``ended`` says how it came to its end.

    ``work`` is given this object on its own side, where it may ``tell`` and say where it will ``stand``.
    """

    def __init__(self, work: Callable[[Child], None]) -> None:
        self._standing = mmap.mmap(-1, ROOM)
        self._out, self._into = os.pipe()
        self.done = self.hung = False
        self.status: int | None = None
        self.number = fork.again()
        if self.number == 0:
            os.close(self._out)
            self._become(work)
        os.close(self._into)

    def _become(self, work: Callable[[Child], None]) -> None:
        _may_end_itself()
        sleep.restore()
        try:
            work(self)
        except Exception as error:  # noqa: BLE001 - what the program's own objects do when they are looked at is theirs
            self.tell({"lost": f"{type(error).__name__}: {error}"[:500]})
        except SystemExit as left:
            # A worker that leaves is gone, whatever it says: its loader waits for a batch.
            lifetime.leave(left.code if isinstance(left.code, int) else int(left.code is not None))
        self.tell({"done": True})
        lifetime.leave(0)

    def tell(self, facts: Facts) -> None:
        """In the child: one line for its parent."""
        text = json.dumps(facts, default=str).encode() + b"\n"
        while text:
            text = text[os.write(self._into, text) :]

    def stand(self, place: Facts) -> None:
        """In the child: the line that is about to run."""
        text = json.dumps(place).encode()[: ROOM - 1]
        self._standing[: len(text) + 1] = text + b"\0"

    @property
    def last(self) -> Facts | None:
        """The line that the child was about to run when it was last heard of."""
        text = bytes(self._standing).partition(b"\0")[0]
        try:
            place: Facts = json.loads(text)
        except ValueError:
            return None
        return place

    def answers(self, seconds: float, end: float) -> Iterator[Facts]:
        """What the child tells, each within ``seconds`` of the one before and all before ``end``; then it is ended."""
        text, waiting = b"", select.poll()
        waiting.register(self._out, select.POLLIN | select.POLLHUP)
        try:
            while True:
                limit = min(seconds, end - time.monotonic())
                if limit <= 0 or not waiting.poll(1000 * limit):
                    self.hung = end - time.monotonic() > 0
                    return
                part = os.read(self._out, 1 << 16)
                if not part:
                    return
                *lines, text = (text + part).split(b"\n")
                for line in lines:
                    told: Facts = json.loads(line)
                    self.done = self.done or "done" in told
                    yield told
        finally:
            self._end()

    def _end(self) -> None:
        os.close(self._out)
        if self.hung or not self._reaped(1.0):
            with refusal.own():
                posix.kill(self.number, signal.SIGKILL)
            self._reaped(5.0)

    def _reaped(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while self.status is None and time.monotonic() < end:
            number, status = posix.waitpid(self.number, os.WNOHANG)
            if number:
                self.status = status
            else:
                time.sleep(0.005)
        return self.status is not None

    @property
    def ended(self) -> Facts | None:
        """``exit`` or ``signal`` of a child that did not come to its own end, or ``hung``; None of one that did."""
        if self.hung:
            return {"hung": True}
        if self.done or self.status is None:
            return None
        code = posix.waitstatus_to_exitcode(self.status)
        return {"signal": -code, "name": signal.Signals(-code).name} if code < 0 else {"exit": code}


def _may_end_itself() -> None:
    """A signal to the process itself is part of how the program dies, and harms nobody else."""
    kill, own = os.kill, os.getpid()

    def killed(number: int, which: int) -> None:
        if number != own:
            return kill(number, which)
        with refusal.own():
            return posix.kill(number, which)

    os.kill = killed
