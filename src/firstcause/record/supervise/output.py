"""The command's output, read by us on its way: byte for byte what it would be, of the same kind, to the same place.

Only where something is looked for in it. A file is read afterwards and nothing stands between. A terminal is stood in
for by a pseudo-terminal of the same size and settings, so that the program sees a terminal; a pipe, by a pipe. What a
process that outlives the command writes later than two seconds after its end is lost.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import stat
import termios
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

CHUNK = 1 << 16
# A longer line is looked at up to here.
LONGEST_LINE = 1 << 16
QUIET_SECONDS = 2.0


class Lines:
    """Bytes in pieces to lines of text; a carriage return ends one too, as progress bars use it."""

    def __init__(self, read: Callable[[str], None]) -> None:
        self._read = read
        self._rest = b""

    def feed(self, data: bytes) -> None:
        *whole, rest = (self._rest + data.replace(b"\r", b"\n")).split(b"\n")
        for line in whole:
            self._read(line[:LONGEST_LINE].decode("utf-8", "replace"))
        self._rest = rest[:LONGEST_LINE]

    def end(self) -> None:
        if self._rest:
            self._read(self._rest.decode("utf-8", "replace"))
            self._rest = b""


@dataclass
class Channel:
    """What the command writes to instead of ``target``, and the end from which it is copied there."""

    target: int
    source: int
    sink: int
    terminal: bool

    def follow_size(self) -> None:
        """Give the pseudo-terminal the size of the real one."""
        if self.terminal:
            size = fcntl.ioctl(self.target, termios.TIOCGWINSZ, b"\0" * 8)
            fcntl.ioctl(self.source, termios.TIOCSWINSZ, size)


class Output:
    """Standard output and standard error of one command, read line by line while they go where they always did."""

    def __init__(self, read: Callable[[str], None]) -> None:
        self._lock = threading.Lock()
        self._read = read
        self._channels: list[Channel] = []
        self._files: list[tuple[int, int]] = []
        self._threads: list[threading.Thread] = []
        self._over = threading.Event()
        self._before: object = None
        # What Popen is given: None leaves the command our own stream.
        self.streams: dict[int, int | None] = {1: None, 2: None}

    def __enter__(self) -> Output:
        seen: dict[tuple[int, int, int], int | None] = {}
        for stream in (1, 2):
            try:
                status = os.fstat(stream)
            except OSError:
                # Closed, as `>&-` leaves it: there is nothing to read.
                continue
            # Both to one place keep their order only in one channel.
            place = (status.st_dev, status.st_ino, status.st_rdev)
            if place not in seen:
                seen[place] = self._open(stream, status)
            self.streams[stream] = seen[place]
        if any(c.terminal for c in self._channels):
            self._before = signal.signal(signal.SIGWINCH, self._resized)
        return self

    def _open(self, stream: int, status: os.stat_result) -> int | None:
        if stat.S_ISREG(status.st_mode):
            appends = fcntl.fcntl(stream, fcntl.F_GETFL) & os.O_APPEND
            self._files.append((stream, status.st_size if appends else os.lseek(stream, 0, os.SEEK_CUR)))
            return None
        terminal = os.isatty(stream)
        source, sink = os.openpty() if terminal else os.pipe()
        if terminal:
            settings = termios.tcgetattr(stream)
            # The real terminal turns line feeds into what it needs; that must not be done twice.
            settings[1] &= ~termios.OPOST
            termios.tcsetattr(sink, termios.TCSANOW, settings)
        channel = Channel(stream, source, sink, terminal)
        channel.follow_size()
        self._channels.append(channel)
        return sink

    def started(self) -> None:
        """The command runs and holds its own ends; from here on what it writes is copied."""
        for channel in self._channels:
            os.close(channel.sink)
            thread = threading.Thread(target=self._copy, args=(channel,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()
        if self._before is not None:
            signal.signal(signal.SIGWINCH, self._before)  # type: ignore[arg-type]
        if not self._threads:
            for channel in self._channels:
                os.close(channel.source)
                os.close(channel.sink)
        for stream, begin in self._files:
            self._read_file(stream, begin)

    def _resized(self, number: int, frame: object) -> None:
        for channel in self._channels:
            channel.follow_size()

    def _copy(self, channel: Channel) -> None:
        lines = Lines(self._line)
        try:
            while True:
                ready = select.select(
                    [channel.source], [], [], QUIET_SECONDS if self._over.is_set() else 0.2
                )[0]
                if not ready:
                    if self._over.is_set():
                        break
                    continue
                data = os.read(channel.source, CHUNK)
                if not data:
                    break
                _write(channel.target, data)
                lines.feed(data)
        except OSError:
            # The end of a pseudo-terminal, or a reader that has gone: closing our end tells the command.
            return
        finally:
            os.close(channel.source)
            lines.end()

    def _line(self, text: str) -> None:
        with self._lock:
            self._read(text)

    def _read_file(self, stream: int, begin: int) -> None:
        lines = Lines(self._line)
        try:
            with open(f"/proc/self/fd/{stream}", "rb") as file:
                file.seek(begin)
                while data := file.read(CHUNK):
                    lines.feed(data)
        except OSError:
            # Not to be read again, as in a folder that was taken away: then nothing was seen.
            return
        lines.end()


def _write(target: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(target, view) :]
        except BlockingIOError:
            # Somebody else has made the terminal non-blocking.
            select.select([], [target], [])
