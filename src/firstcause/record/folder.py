"""A run on disk: where its parts lie, and how they are read and written."""

from __future__ import annotations

import glob
import json
import os
import secrets
import time
from typing import Any

from firstcause.errors import RecordError
from firstcause.record import journal
from firstcause.schema import RUN_SCHEMA, Run, from_plain, to_plain

HOME = ".firstcause"


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

    def write_run(self, run: Run) -> None:
        self.write_json("run.json", to_plain(run))

    def read_json(self, *parts: str) -> Any:
        """The JSON value in a file of the run, or None where there is no such file."""
        path = self.file(*parts)
        try:
            with open(path, encoding="utf-8") as file:
                return json.load(file)
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
            with open(path + ".new", "w", encoding="utf-8") as file:
                json.dump(value, file, indent=1)
            os.replace(path + ".new", path)
        except OSError as error:
            raise RecordError(
                "run-unwritable",
                f"{path} cannot be written: {error}",
                "free space or choose another folder with -o",
            ) from error

    def journals(self) -> dict[str, journal.Reading]:
        """Every journal of the run by its name, in order of name."""
        paths = sorted(glob.glob(os.path.join(glob.escape(self.path), "*.journal")))
        return {os.path.basename(p)[: -len(".journal")]: journal.read(p) for p in paths}

    def failures(self) -> list[dict[str, Any]]:
        """What was kept of failing steps, in the order in which they happened."""
        paths = sorted(glob.glob(os.path.join(glob.escape(self.path), "failures", "*.json")))
        return [f for f in (self.read_json("failures", os.path.basename(p)) for p in paths) if f]


def relative(path: str, cwd: str) -> str:
    """A path as the user would type it from ``cwd``."""
    shorter = os.path.relpath(path, cwd)
    return path if shorter.startswith("..") else shorter


def home_of(cwd: str) -> str:
    """The .firstcause folder for a working directory, made with a .gitignore that keeps it out of git."""
    home = os.path.join(cwd, HOME)
    try:
        os.makedirs(os.path.join(home, "runs"), exist_ok=True)
        ignore = os.path.join(home, ".gitignore")
        if not os.path.exists(ignore):
            with open(ignore, "w", encoding="utf-8") as file:
                file.write("*\n")
    except OSError as error:
        raise RecordError(
            "home-unwritable", f"{home} cannot be made: {error}", "choose another folder with -o"
        ) from error
    return home


def new_run_folder(cwd: str, name: str) -> RunFolder:
    """A fresh folder for a run of ``name``, unique even within one second."""
    home = home_of(cwd)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    folder = os.path.join(home, "runs", f"{stamp}-{name}-{secrets.token_hex(2)}")
    os.makedirs(folder, mode=0o700)
    return RunFolder(folder)


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
