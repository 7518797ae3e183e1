"""A throw-away copy of the user's program in which its recorded command is run and recorded once more."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from firstcause.lab.sealed import moved
from firstcause.sandbox import bounded
from firstcause.sandbox.confine import command_for
from firstcause.sandbox.program_copy import Copied, copy_of
from firstcause.schema import Run

RECORDER = (sys.executable, "-m", "firstcause")


@dataclass(frozen=True)
class Recorded:
    """One recorded run in a copy: its record, how its command ended (None: stopped), its last output, its seconds."""

    record: str
    ended: int | None
    output: str
    seconds: float


@dataclass(frozen=True)
class ProgramCopy:
    """The copy's folder, the folder that it was made of, and what was copied."""

    path: str
    made_of: str
    copied: Copied

    def record(
        self,
        run: Run,
        budget: float,
        recorder: Sequence[str] = RECORDER,
        variables: Mapping[str, str] | None = None,
    ) -> Recorded:
        """Record the command of ``run`` here for at most ``budget`` seconds, with more ``variables`` if any are given.

        The kernel lets the program write beneath the copy and the record only.
        """
        scratch = os.path.dirname(self.path)
        record = os.path.join(scratch, "run")
        command = [moved(word, self.made_of, self.path) for word in run.command]
        started = time.monotonic()
        ended, output = bounded.run(
            command_for(scratch, [*recorder, "run", "-q", "-o", record, *_expecting(run), *command]),
            self.path,
            budget,
            {**_environment(run, self.made_of, self.path), **(variables or {})},
        )
        return Recorded(record, ended, output, time.monotonic() - started)


@contextmanager
def program_copied(folder: str) -> Iterator[ProgramCopy]:
    """A copy of a program's folder that goes when its use is over; raises ``InputError`` where it is too large."""
    with tempfile.TemporaryDirectory(prefix="firstcause-try-", ignore_cleanup_errors=True) as scratch:
        path = os.path.join(os.path.realpath(scratch), "copy")
        yield ProgramCopy(path, folder, copy_of(folder, path))


def _expecting(before: Run) -> list[str]:
    return [word for e in before.expectations for word in ("--expect", e.text)]


def _environment(before: Run, cwd: str, copy: str) -> dict[str, str]:
    """Our own environment, as the command had it: the variables that the record kept, the copy as the folder."""
    kept = (before.environment or {}).get("variables")
    recorded = {str(k): str(v) for k, v in kept.items()} if isinstance(kept, Mapping) else {}
    # A recording around this one is not this one's.
    own = {k: v for k, v in os.environ.items() if not k.startswith("FIRSTCAUSE_")}
    there = {k: moved(v, cwd, copy) for k, v in recorded.items()}
    if "PYTHONPATH" in there:
        there["PYTHONPATH"] = os.pathsep.join(
            moved(p, cwd, copy) for p in recorded["PYTHONPATH"].split(os.pathsep)
        )
    return {**own, **there, "PWD": copy}
