"""Runs whose recording was killed: concluded from what their processes wrote, when they are next looked at."""

from __future__ import annotations

import os
from dataclasses import replace

from firstcause.errors import RecordError
from firstcause.record.folder import HOME, RunFolder, find_run
from firstcause.record.journal import Reading
from firstcause.record.supervise.conclude import concluded
from firstcause.record.supervise.launch import Ending
from firstcause.schema import Run, Symptom

# The newest so many are looked at.
MOST_RUNS = 50


def found(name: str, cwd: str) -> RunFolder:
    """The run that a user means, concluded; raises ``RecordError`` where there is none, or it is still recorded."""
    folder = find_run(name, cwd)
    conclude(folder)
    return folder


def found_with_program(name: str, cwd: str) -> RunFolder:
    """The same, where a program can be run again; raises ``RecordError`` for one that was imported."""
    folder = found(name, cwd)
    if not folder.run().command:
        message = f"{folder.run().id} was imported: there is no program to run again"
        raise RecordError("run-imported", message, f"firstcause triage {folder.run().id}")
    return folder


def conclude(folder: RunFolder) -> Run:
    """The run in ``folder``; one whose recording was killed gets its ending now.

    Raises ``RecordError`` where it cannot be read, or is still being recorded.
    """
    run = folder.run()
    if run.seconds is not None:
        return run
    with folder.held():
        # It may have been concluded while we waited for nobody else to hold it.
        run = folder.run()
        if run.seconds is None:
            run = _killed(run, folder)
            folder.write_run(run)
    return run


def conclude_all(cwd: str) -> list[Run]:
    """Conclude the newest runs beneath ``cwd`` whose recording was killed; gives these."""
    runs = os.path.join(cwd, HOME, "runs")
    names = sorted(os.listdir(runs), reverse=True)[:MOST_RUNS] if os.path.isdir(runs) else []
    result = []
    for name in names:
        folder = RunFolder(os.path.join(runs, name))
        try:
            if folder.run().seconds is None:
                result.append(conclude(folder))
        except (RecordError, OSError):
            # Still recorded, damaged or of another version: it is for whoever asks for it to hear so.
            continue
    return result


def _killed(run: Run, folder: RunFolder) -> Run:
    ended = concluded(run, folder, Ending(None, None, _seconds(folder)))
    readings = folder.journals().values()
    what = (
        "the recording was killed before it could note how the command ended "
        f"(SIGKILL, out of memory, a full disk, or the machine went down); {_last(list(readings))}"
    )
    return replace(ended, symptoms=(*ended.symptoms, Symptom("signal", what)))


def _last(readings: list[Reading]) -> str:
    """Up to where it is recorded."""
    if not readings:
        return "no Python process of it had written anything yet"
    steps = [r.rows[-1].step for r in readings if r.rows]
    return f"the last step that is recorded is {max(steps)}" if steps else "no step of a training is recorded"


def _seconds(folder: RunFolder) -> float:
    """From the first to the last word of the record, by the clock of its files."""
    names = [n for n in os.listdir(folder.path) if n == "run.json" or n.endswith(".journal")]
    times = [os.stat(folder.file(n)).st_mtime for n in names]
    return max(times) - min(times)
