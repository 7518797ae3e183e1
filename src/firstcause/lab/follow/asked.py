"""A command followed in a copy of its folder, confined to it; no torch here."""

from __future__ import annotations

import glob
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from firstcause.lab import beginning
from firstcause.record.supervise import launch
from firstcause.sandbox import bounded
from firstcause.sandbox.confine import command_for
from firstcause.sandbox.program_copy import copy_of

Row = dict[str, Any]
FOLLOW = "firstcause.lab.follow.program:follow"


@dataclass(frozen=True)
class Followed:
    """One run: a row a step, after how many steps files were saved, ops if asked for, the exit code, its last words."""

    rows: tuple[Row, ...]
    saves: tuple[int, ...]
    ops: tuple[list[Any], ...] = ()
    code: int | None = 0
    said: str = ""


@dataclass
class Copy:
    """A copy of the program's folder in which its command runs; files that one run leaves, the next one finds."""

    scratch: str
    runs: int = 0

    def follow(
        self,
        command: Sequence[str],
        seconds: float,
        stop: int | None = None,
        ops: int | None = None,
        seeds: Sequence[str] = (),
    ) -> Followed:
        """Run the command, at most so many seconds; ``stop`` ends it as a crash would, when so many steps are done."""
        self.runs += 1
        lines = os.path.join(self.scratch, f"run-{self.runs}.jsonl")
        given = {
            "FIRSTCAUSE_FOLLOW": lines,
            "FIRSTCAUSE_FOLLOW_STOP": "" if stop is None else str(stop),
            "FIRSTCAUSE_FOLLOW_OPS": "" if ops is None else str(ops),
            "FIRSTCAUSE_FOLLOW_SEED": ",".join(s for s in seeds if s != "hash"),
        }
        fixed = {"PYTHONHASHSEED": "0"} if "hash" in seeds else {}
        code, said = bounded.run(
            command_for(self.scratch, command),
            os.path.join(self.scratch, "copy"),
            seconds,
            beginning.environment(FOLLOW) | given | fixed | {"PYTHONDONTWRITEBYTECODE": "1"},
        )
        return _read(lines, code, said)


@contextmanager
def copy(folder: str) -> Iterator[Copy]:
    """A fresh copy of a folder, that goes when its use is over; raises ``InputError`` where it is too large."""
    with tempfile.TemporaryDirectory(prefix="firstcause-follow-", ignore_cleanup_errors=True) as made:
        scratch = os.path.realpath(made)
        copy_of(folder, os.path.join(scratch, "copy"))
        yield Copy(scratch)


def _read(path: str, code: int | None, said: str) -> Followed:
    words = said.strip().splitlines()
    runs = [
        _lines(one, code, words[-1] if words else "") for one in sorted(glob.glob(glob.escape(path) + ".*"))
    ]
    return max(
        runs, key=lambda r: len(r.rows), default=Followed((), (), (), code, words[-1] if words else "")
    )


def _lines(path: str, code: int | None, said: str) -> Followed:
    rows: list[Row] = []
    saves: list[int] = []
    ops: list[list[Any]] = []
    with open(path, encoding="utf-8") as file:
        # The last line of a process that was killed while it wrote is none.
        for row in (json.loads(line) for line in file if line.endswith("}\n")):
            if "saved" in row:
                saves.append(int(row["saved"]))
            elif "ops" in row:
                ops = row["ops"]
            else:
                rows.append(row)
    return Followed(tuple(rows), tuple(saves), tuple(ops), code, said)


def python_of(command: Sequence[str]) -> list[str]:
    """The command with ``python`` as the user's, where it is named without a path."""
    return [launch.python(), *command[1:]] if command[0] in ("python", "python3") else list(command)
