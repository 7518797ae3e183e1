"""A run on disk: where its parts lie, and how they are read and written."""

from __future__ import annotations

import fcntl
import glob
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from firstcause.errors import RecordError
from firstcause.record import checked, journal, private, redact, reserve
from firstcause.record.kept_failure import misfit
from firstcause.schema import RUN_SCHEMA, Run, from_plain, to_plain

HOME = ".firstcause"
STAMP = "%Y%m%d-%H%M%S"


class RunFolder:
    """The folder of one run: run.json, a journal a process, and what was kept of a failing step."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)

    def file(self, *parts: str) -> str:
        return os.path.join(self.path, *parts)

    def run(self) -> Run:
        """Read run.json; raises ``RecordError`` where it is missing, damaged or of another version."""
        data = self.read_json("run.json")
        if data is None:
            raise RecordError(
                "run-missing", f"{self.path} holds no run.json", "name a folder made by `firstcause run`"
            )
        if isinstance(data, dict) and data.get("schema") != RUN_SCHEMA:
            raise RecordError(
                "run-version",
                f"{self.path} is a record of version {data.get('schema')}, this firstcause reads version {RUN_SCHEMA}",
                "record the run again, or read it with the firstcause that wrote it",
            )
        try:
            return from_plain(Run, data)
        except ValueError as error:
            raise RecordError(
                "run-damaged", f"{self.file('run.json')}: {error}", "record the run again"
            ) from error

    def begin(self, run: Run) -> None:
        """Write the run before it starts, and hold room for its end; raises ``RecordError`` where there is none."""
        self.write_run(run)
        try:
            reserve.take(self.path)
        except OSError as error:
            raise RecordError(
                "run-unwritable",
                f"{self.path} cannot be written: {error}",
                "free space or choose another folder with -o",
            ) from error

    def write_run(self, run: Run) -> None:
        self.write_json("run.json", to_plain(run))

    def read_json(self, *parts: str) -> Any:
        """The JSON value in a file of the run, or None where there is no such file."""
        path = self.file(*parts)
        try:
            with open(path, encoding="utf-8") as file:
                return checked.loads(file.read())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise RecordError(
                "run-damaged", f"{path} cannot be read: {error}", "record the run again"
            ) from error

    def write_json(self, name: str, value: Any) -> None:
        """Write atomically: a reader sees the old file or the new one, whole."""
        path = self.file(name)
        try:
            with open(path + ".new", "w", encoding="utf-8", opener=private.opener) as file:
                file.write(checked.dumps(redact.value(value, redact.held())))
            os.replace(path + ".new", path)
        except OSError as error:
            with suppress(OSError):
                os.unlink(path + ".new")
            raise RecordError(
                "run-unwritable",
                f"{path} cannot be written: {error}",
                "free space or choose another folder with -o",
            ) from error

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder while its run is recorded; the kernel lets go of it however this process ends.

        Raises ``RecordError`` where another process holds it.
        """
        descriptor = self._lock()
        try:
            yield
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def is_held(self) -> bool:
        """Whether a process records into this folder now."""
        try:
            with self.held():
                return False
        except RecordError:
            return True

    def _lock(self) -> int | None:
        try:
            # The folder itself, so that no lock file is left behind.
            descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            raise RecordError(
                "run-unfinished",
                f"{self.path} is still being recorded",
                "wait until its command has ended",
            ) from error
        except OSError:
            # Some network file systems lock no folders.
            os.close(descriptor)
            return None
        return descriptor

    def journals(self) -> dict[str, journal.Reading]:
        """Every journal of the run by its name, in order of name."""
        paths = sorted(glob.glob(os.path.join(glob.escape(self.path), "*.journal")))
        try:
            return {os.path.basename(p)[: -len(".journal")]: journal.read(p) for p in paths}
        except OSError as error:
            raise RecordError(
                "run-damaged", f"a journal of {self.path} cannot be read: {error}", "check its permissions"
            ) from error

    def failures(self) -> list[dict[str, Any]]:
        """What was kept of failing steps, in the order in which they happened."""
        paths = sorted(glob.glob(os.path.join(glob.escape(self.path), "failures", "*.json")))
        found = [(p, self.read_json("failures", os.path.basename(p))) for p in paths]
        for path, facts in found:
            if not isinstance(facts, dict) or not {"kind", "name", "step"} <= facts.keys():
                raise RecordError(
                    "run-damaged", f"{path} does not describe a failing step", "record the run again"
                )
            if said := misfit(facts):
                raise RecordError("run-damaged", f"{path} is damaged: {said}", "record the run again")
        return [facts for _, facts in found]


def relative(path: str, cwd: str) -> str:
    """A path as the user would type it from ``cwd``."""
    shorter = os.path.relpath(path, cwd)
    return path if shorter.startswith("..") else shorter


def home_of(cwd: str) -> str:
    """The .firstcause folder for a working directory, made with a .gitignore that keeps it out of git."""
    home = os.path.join(cwd, HOME)
    try:
        private.make_folder(os.path.join(home, "runs"))
        ignore = os.path.join(home, ".gitignore")
        if not os.path.exists(ignore):
            with open(ignore, "w", encoding="utf-8", opener=private.opener) as file:
                file.write("*\n")
    except OSError as error:
        raise RecordError(
            "home-unwritable", f"{home} cannot be made: {error}", "choose another folder with -o"
        ) from error
    return home


def new_run_folder(cwd: str, name: str) -> RunFolder:
    """A fresh folder for a run of ``name``, unique even within one second."""
    home = home_of(cwd)
    runs = os.path.join(home, "runs")
    try:
        folder = os.path.join(runs, f"{_stamp(runs)}-{name}-{secrets.token_hex(2)}")
        os.makedirs(folder, mode=0o700)
    except OSError as error:
        raise RecordError(
            "home-unwritable", f"{runs} cannot be written: {error}", "choose another folder with -o"
        ) from error
    return RunFolder(folder)


def _stamp(runs: str) -> str:
    """The time, or one second after the newest run where the clock was set back: names tell the order of runs."""
    stamp = time.strftime(STAMP)
    for name in sorted(os.listdir(runs), reverse=True):
        try:
            newest = time.strptime(name[:15], STAMP)
        except ValueError:
            # A folder of another name says nothing of the order.
            continue
        if stamp <= name[:15]:
            return time.strftime(STAMP, time.localtime(time.mktime(newest) + 1))
        break
    return stamp


def find_run(name: str, cwd: str) -> RunFolder:
    """The run that a user means: a path, an id beneath .firstcause/runs, or ``last``."""
    if os.path.isfile(os.path.join(name, "run.json")):
        return RunFolder(name)
    runs = os.path.join(cwd, HOME, "runs")
    if name == "last":
        known = sorted(
            d
            for d in (os.listdir(runs) if os.path.isdir(runs) else [])
            if os.path.isfile(os.path.join(runs, d, "run.json"))
        )
        if known:
            return RunFolder(os.path.join(runs, known[-1]))
    elif os.path.isfile(os.path.join(runs, name, "run.json")):
        return RunFolder(os.path.join(runs, name))
    raise RecordError(
        "run-missing", f"no run {name!r} in {cwd}", "record one: firstcause run python train.py"
    )
