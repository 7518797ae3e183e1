"""Open files that workers inherit with one position for all, and what a read gives while another worker moves it.

The position is what the kernel keeps beside a descriptor: a fork of a process shares it. A file that is opened anew through
``/proc/self/fd`` under the same number has a position of its own, which no object of the program notices.
"""

from __future__ import annotations

import contextlib
import os
import posix
import stat
import sys
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

from firstcause.lab import places
from firstcause.lab.loading.asked import Asked
from firstcause.lab.loading.child import Child, Facts
from firstcause.lab.loading.forms import digest
from firstcause.lab.loading.frames import described
from firstcause.record.observe import rng

PAIRS, TURNS, SECONDS, DEPTH = 4, 6, 10.0, 5


class Opened:
    """Where the program opens its files, by path: an audit hook, which cannot be taken back."""

    def __init__(self) -> None:
        self.sites: dict[str, Facts] = {}
        # What a loader of a sealed process opens would have been opened in a worker.
        self.fetching = False
        self.inside: set[str] = set()
        sys.addaudithook(self._heard)

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event != "open" or not isinstance(arguments[0], (str, bytes, os.PathLike)):
            return
        site = places.of_frame(sys._getframe(1), columns=True)
        if site is not None:
            path = os.path.realpath(os.fsdecode(arguments[0]))
            self.sites[path] = site
            (self.inside.add if self.fetching else self.inside.discard)(path)

    def at(self, path: str) -> Facts | None:
        """The line that opened a file; of one that the program wrote itself, the kernel knows another path."""
        return next((site for known, site in reversed(self.sites.items()) if known.endswith(path)), None)

    def in_a_worker(self, path: str) -> bool:
        return any(known.endswith(path) for known in self.inside)


def shared(asked: Asked, opened: Opened, own: dict[int, tuple[int, int]]) -> Facts | None:
    """The file whose position a fetch in a worker moves for all, and what that does to what they read; None without one."""
    before = _positions(own, opened)
    if not before:
        return None
    indices = _indices(asked)
    moved: dict[int, tuple[int, int]] = {}
    for index in indices[:3]:
        _one(lambda index=index: asked.fetch(index))
        moved |= {fd: (at, now) for fd, at in before.items() if (now := _position(fd)) not in (at, None)}
    if not moved:
        return None
    descriptor, (at, now) = next(iter(moved.items()))
    path = os.readlink(f"/proc/self/fd/{descriptor}")
    return {
        "path": path,
        "held": _holder(asked.loader.dataset, set(moved)),
        "opened": opened.at(path),
        "before": at,
        "after": now,
        "read": _tried(asked, indices, frozenset(moved)),
    }


def _tried(asked: Asked, indices: list[Any], moved: frozenset[int]) -> Facts | None:
    """One sample alone, between another worker's reads, and between those of a worker with files of its own."""
    state = rng.global_state()
    end = time.monotonic() + 3 * SECONDS
    for one, other in zip(indices, indices[1:] + indices[:1], strict=True):
        if one == other or time.monotonic() > end:
            continue
        alone = _read(asked, one, None, moved, state)
        again = _read(asked, one, None, moved, state)
        apart = _read(asked, one, _Other(asked, other, moved, state, True), moved, state)
        beside = _read(asked, one, _Other(asked, other, moved, state, False), moved, state)
        # One that waits for the other has a lock of the program's around its reads, and is no proof of anything.
        if alone == again == apart != beside and not alone.get("ended") and not beside.get("ended"):
            return {"index": one, "other": other, "alone": alone, "apart": apart, "beside": beside}
    return None


class _Other:
    """Another worker, which fetches a sample of its own each time that it is asked."""

    def __init__(self, asked: Asked, index: Any, moved: frozenset[int], state: Any, apart: bool) -> None:
        self.asking, self.answer = os.pipe(), os.pipe()

        def work(child: Child) -> None:
            os.close(self.asking[1])
            if apart:
                _open_anew(moved)
            while os.read(self.asking[0], 1):
                rng.set_global_state(state)
                # What it reads may be torn too: it is the first one's that counts.
                with contextlib.suppress(Exception):
                    asked.fetch(index)
                os.write(self.answer[1], b".")

        self.child = Child(work)

    def turn(self) -> None:
        os.write(self.asking[1], b"?")
        os.read(self.answer[0], 1)

    def end(self) -> None:
        os.close(self.asking[1])
        for _ in self.child.answers(1.0, time.monotonic() + 1.0):
            continue
        for descriptor in (self.asking[0], *self.answer):
            os.close(descriptor)


def _read(asked: Asked, index: Any, other: _Other | None, moved: frozenset[int], state: Any) -> Facts:
    """What a worker with these files gets; ``other`` fetches between two lines whenever the first one has moved a position."""

    def work(child: Child) -> None:
        if other is None:
            _open_anew(moved)
        rng.set_global_state(state)
        turns = _Turns(other, moved)
        try:
            with turns:
                sample = asked.fetch(index)
            child.tell({"sample": digest(sample)})
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            child.tell({"raised": described(error)})

    reader = Child(work)
    told = [t for t in reader.answers(SECONDS, time.monotonic() + SECONDS) if "done" not in t]
    if other is not None:
        other.end()
    found = told[-1] if told else {}
    return found | ({"ended": reader.ended} if reader.ended else {})


class _Turns:
    """A trace that lets the other worker fetch after each operation that moved a position."""

    def __init__(self, other: _Other | None, moved: frozenset[int]) -> None:
        self.other, self.files, self.left = other, moved, TURNS
        self.at = {fd: _position(fd) for fd in moved}

    def __enter__(self) -> None:
        if self.other is not None:
            sys.settrace(self._traced)

    def __exit__(self, *error: object) -> None:
        sys.settrace(None)

    def _traced(self, frame: FrameType, event: str, argument: Any) -> Any:
        frame.f_trace_opcodes = True
        now = {fd: _position(fd) for fd in self.files}
        if now != self.at and self.left and self.other is not None:
            self.left -= 1
            self.other.turn()
            now = {fd: _position(fd) for fd in self.files}
        self.at = now
        return self._traced


def _one(work: Any) -> None:
    once = Child(lambda child: child.tell({"got": work() is not None}))
    for _ in once.answers(SECONDS, time.monotonic() + SECONDS):
        continue


def _open_anew(moved: frozenset[int]) -> None:
    for descriptor in moved:
        new = posix.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY)
        os.lseek(new, os.lseek(descriptor, 0, os.SEEK_CUR), os.SEEK_SET)
        os.dup2(new, descriptor)
        os.close(new)


def files() -> dict[int, tuple[int, int]]:
    """The files that are open now, by descriptor."""
    found: dict[int, tuple[int, int]] = {}
    for name in os.listdir("/proc/self/fd"):
        # One of them was the listing's own.
        with contextlib.suppress(OSError):
            status = os.fstat(int(name))
            found[int(name)] = (status.st_dev, status.st_ino)
    return found


def _positions(own: dict[int, tuple[int, int]], opened: Opened) -> dict[int, int]:
    found: dict[int, int] = {}
    for descriptor, file in files().items():
        position = _position(descriptor)
        if descriptor < 3 or own.get(descriptor) == file or position is None:
            continue
        with contextlib.suppress(OSError):
            if not opened.in_a_worker(os.readlink(f"/proc/self/fd/{descriptor}")):
                found[descriptor] = position
    return found


def _position(descriptor: int) -> int | None:
    """Where a regular file stands; None of anything else."""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return os.lseek(descriptor, 0, os.SEEK_CUR)
    except OSError:
        return None


def _indices(asked: Asked) -> list[Any]:
    """A few indices from all over the dataset; of its loader's sampler where it has no length."""
    try:
        length = len(asked.loader.dataset)
    except TypeError:
        return []
    step = max(1, length // (PAIRS + 1))
    return [min(length - 1, n * step) for n in range(1, PAIRS + 1)]


def _holder(dataset: Any, moved: set[int]) -> Facts | None:
    """The attribute that leads to one of the files, by its path from the dataset and the class that holds it."""
    return next(_search(dataset, "", type(dataset).__name__, moved, DEPTH, set()), None)


def _search(
    value: Any, path: str, owner: str, files: set[int], depth: int, seen: set[int]
) -> Iterator[Facts]:
    if id(value) in seen or not depth or isinstance(value, (str, bytes, int, float, type)):
        return
    seen.add(id(value))
    number = getattr(value, "fileno", None)
    with contextlib.suppress(Exception):
        if callable(number) and number() in files:
            yield {"path": path, "owner": owner, "kind": type(value).__name__}
            return
    if isinstance(value, dict):
        for key, one in list(value.items())[:64]:
            yield from _search(one, f"{path}[{key!r}]", owner, files, depth - 1, seen)
    elif isinstance(value, (list, tuple)):
        for place, one in enumerate(value[:64]):
            yield from _search(one, f"{path}[{place}]", owner, files, depth - 1, seen)
    elif hasattr(value, "__dict__"):
        for key, one in list(vars(value).items()):
            yield from _search(one, f"{path}.{key}".lstrip("."), type(value).__name__, files, depth - 1, seen)
