"""A sample that ended the process which asked for it: asked for again alone, line by line, in a process of its own."""

from __future__ import annotations

import os
import posix
import sys
import time
from types import FrameType
from typing import Any

from firstcause.lab import places
from firstcause.lab.loading.asked import Asked
from firstcause.lab.loading.child import Child, Facts
from firstcause.lab.loading.workers import Draws, base_seed


def alone(asked: Asked, at: Facts, seconds: float) -> Facts:
    """How a process ends that asks for this sample only: ``alone`` as ``Child.ended``; ``site`` the last line of another one.

    Of a stream all items before it are asked for too. Following lines slows a process down: how that one ends tells nothing.
    """
    plain, followed = _ended(asked, at, seconds, False), _ended(asked, at, seconds, True)
    return {"alone": plain.ended, "site": followed.last}


def _ended(asked: Asked, at: Facts, seconds: float, follows: bool) -> Child:
    def work(child: Child) -> None:
        draws = Draws(asked.loader.dataset, asked.workers, base_seed(asked.loader))
        with draws.as_worker(int(at.get("worker") or 0), asked.loader.worker_init_fn):
            follow = _Follow(child if follows else None)
            if asked.streams:
                stream = iter(asked.loader.dataset)
                for _ in range(int(at["index"])):
                    next(stream)
                follow.start(getattr(stream, "gi_frame", None))
                next(stream)
            else:
                follow.start(None)
                asked.fetch(at["index"])
            sys.settrace(None)

    asking = Child(work)
    for _ in asking.answers(seconds, time.monotonic() + seconds + 1):
        continue
    return asking


class _Follow:
    """Writes each line of the program down before it runs."""

    def __init__(self, child: Child | None) -> None:
        self.child = child

    def start(self, frame: FrameType | None) -> None:
        if self.child is None:
            return
        if frame is not None:
            frame.f_trace = self._traced
        sys.settrace(self._called)

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._traced if places.is_user_file(frame.f_code.co_filename) else None

    def _traced(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line" and self.child is not None:
            self.child.stand(places.standing(frame))
        return self._traced


def memory() -> Facts:
    """What the kernel tells of memory: the limit of this group of processes, its kills, and what is left of /dev/shm."""
    found: Facts = {}
    for name, path in (("limit", "memory.max"), ("used", "memory.current"), ("events", "memory.events")):
        text = _read(f"/sys/fs/cgroup/{path}")
        if text:
            found[name] = (
                text.strip() if name != "events" else dict(line.split() for line in text.splitlines())
            )
    try:
        room = os.statvfs("/dev/shm")
        found["shared"] = room.f_frsize * room.f_bavail
    except OSError:
        found["shared"] = None
    return found


def _read(path: str) -> str:
    try:
        descriptor = posix.open(path, os.O_RDONLY)
    except OSError:
        return ""
    try:
        return os.read(descriptor, 4096).decode()
    finally:
        os.close(descriptor)
