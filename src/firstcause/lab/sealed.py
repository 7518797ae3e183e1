"""A fresh sealed process that runs the recorded command again for one purpose, started and watched from here."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from firstcause.lab.executors import Executor, Job, here
from firstcause.record import journal
from firstcause.record.folder import RunFolder
from firstcause.record.supervise import launch
from firstcause.record.whole import check_snapshot

ENOUGH = 1 << 20


@dataclass(frozen=True)
class Ended:
    """How a sealed process ended: exit code (None where it took too long), the lines of its result, its last word.

    ``seconds`` are those that it ran, without what it waited for a place.
    """

    code: int | None
    lines: tuple[str, ...]
    said: str
    seconds: float = 0.0

    @property
    def results(self) -> Iterator[dict[str, Any]]:
        """The lines that are whole: the last one of a process that was ended while it wrote is none."""
        for line in self.lines:
            try:
                result: dict[str, Any] = json.loads(line)
            except ValueError:
                # Cut short as the process was ended.
                continue
            yield result


@contextmanager
def scratch_folder(within: str | None = None) -> Iterator[str]:
    """A folder that goes when its use is over."""
    path = tempfile.mkdtemp(prefix="firstcause-", dir=within)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def run_sealed(
    folder: RunFolder,
    extra: dict[str, str],
    files: dict[str, Any],
    seconds: float,
    copy: str | None = None,
    command: Sequence[str] | None = None,
    executor: Executor | None = None,
) -> Ended:
    """Run the command of ``folder`` again, sealed, with ``extra`` in its environment, for at most ``seconds``.

    It runs in ``copy`` if that is given, else in its own folder. ``files`` are written as JSON beside the result, each
    named to the process by the environment variable that is its key. ``command`` is that of one rank, where the recorded one
    starts several. Without an ``executor`` it is a process of this one. Raises ``OSError`` where it cannot be started.
    """
    run = folder.run()
    # What another machine reads and writes lies where the record does.
    with scratch_folder(folder.path if executor is not None else None) as scratch:
        overlay, result = os.path.join(scratch, "overlay"), os.path.join(scratch, "result.json")
        os.makedirs(overlay)
        named = {"FIRSTCAUSE_REPLAY": result, "FIRSTCAUSE_SCRATCH": overlay}
        for variable, content in files.items():
            named[variable] = os.path.join(scratch, variable.lower() + ".json")
            with open(named[variable], "w", encoding="utf-8") as file:
                json.dump(content, file)
        words = tuple(moved(word, run.folder, copy) if copy else word for word in command or run.command)
        environment = launch.environment(folder.path, extra | named)
        job = Job(words, copy or run.folder, environment, os.path.join(scratch, "output"), seconds)
        over = here.run(job) if executor is None else executor.run(job)
        with open(job.output, "rb") as output:
            said = output.read(ENOUGH).decode(errors="replace").strip().splitlines()
        lines: list[str] = []
        if os.path.exists(result):
            with open(result, encoding="utf-8") as file:
                lines = [line for line in file.read().split("\n") if line]
        failed = _internal_error(result + ".journal")
        return Ended(over.code, tuple(lines), failed or (said[-1] if said else ""), over.seconds)


def failing_step(folder: RunFolder, failure: dict[str, Any]) -> dict[str, str]:
    """The environment that names the saved state of a failing step or call to a sealed process.

    Raises ``RecordError`` where that state is damaged.
    """
    check_snapshot(folder.file(failure["snapshot"]))
    rank = failure.get("alone")
    alone = {**rank["variables"], "FIRSTCAUSE_ALONE": "1"} if rank else {}
    return alone | {
        "FIRSTCAUSE_SNAPSHOT": folder.file(failure["snapshot"]),
        "FIRSTCAUSE_FAILURE": folder.file("failures", failure["name"] + ".json"),
    }


def command_of(failure: dict[str, Any]) -> list[str] | None:
    """The command of the rank that failed; None where the recorded command is the process that failed."""
    rank = failure.get("alone")
    return list(rank["command"]) if rank else None


def unsaved(failure: dict[str, Any]) -> str:
    """Why the state of a failing step or call is not there; empty where it is."""
    if failure.get("snapshot") and not failure.get("not_saved"):
        return ""
    return failure.get("not_saved") or "the state of the failing step was not kept"


def moved(word: str, folder: str, copy: str) -> str:
    """A word of a command with the user's folder replaced by its copy; what was not copied, as an environment is, stays."""
    for known in (os.path.abspath(folder), os.path.realpath(folder)):
        if word == known or word.startswith(known + os.sep):
            there = copy + word[len(known) :]
            return word if os.path.lexists(word) and not os.path.lexists(there) else there
    return word


def _internal_error(path: str) -> str:
    """Our own failure in the sealed process, which is no word of the program's."""
    events = journal.read(path).events if os.path.exists(path) else ()
    texts = [str(e["text"]) for e in events if e.get("event") == "internal-error"]
    return texts[0].strip().replace("\n", " | ") if texts else ""
