"""The replay of a failure by running the program once more in a copy, where it can be replayed on the spot."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from firstcause.errors import FirstcauseError
from firstcause.fix.recorded_copy import ProgramCopy, program_copied
from firstcause.lab.counterfactual import Lab
from firstcause.record import private
from firstcause.record.folder import RunFolder

Facts = dict[str, Any]
# What construction and the replay itself take beside the run's own time, in seconds.
BESIDE = 10.0
# What the record of the copy knows better: where the step stands, and that it is replayed.
TAKEN = ("unit", "replay", "not_replayable")


def replayed_in_copy(
    folder: RunFolder, failure: Facts, lab: Lab | None, variables: Mapping[str, str]
) -> Facts:
    """The failure with the replay of the same failure in a copy of the program, kept so in the run.

    It is handed back as it was where there is no leave or no time, or where the copy failed in another way.
    """
    failed = failures_in_copy(folder, lab, lambda _: dict(variables))
    same = next((f for f in failed if "replay" in f and _is_same(failure, f)), None)
    if same is None or not same["replay"].get("exact"):
        return failure
    whole = failure | {key: same[key] for key in TAKEN if key in same}
    keep(folder, whole)
    return whole


def failures_in_copy(
    folder: RunFolder, lab: Lab | None, variables: Callable[[ProgramCopy], dict[str, str]]
) -> list[Facts]:
    """The failures of one more run in a copy of the program, their places those of the program itself.

    Empty where there is no leave or no time, where the folder is too large for a copy, or where nothing was recorded.
    """
    run = folder.run()
    if lab is None or not lab.allowed() or lab.seconds_left < (run.seconds or 0.0) + BESIDE:
        return []
    try:
        with program_copied(run.folder) as copy:
            ran = copy.record(run, lab.seconds_left, variables=variables(copy))
            return [_moved(f, copy.path, run.folder) for f in RunFolder(ran.record).failures()]
    except FirstcauseError:
        # What was saved of the failure is still there.
        return []


def keep(folder: RunFolder, failure: Facts) -> None:
    """Write a failure among those of the run."""
    private.make_folder(folder.file("failures"))
    folder.write_json(os.path.join("failures", failure["name"] + ".json"), failure)


def _is_same(one: Facts, other: Facts) -> bool:
    """Whether both are the same failure of the same step: the exception's type, words and line, or the bad values."""
    return (one["kind"], one["step"], _raised(one)) == (other["kind"], other["step"], _raised(other))


def _raised(failure: Facts) -> tuple[Any, ...]:
    if not failure.get("exception"):
        return ()
    first = failure["exception"][0]
    return (first["type"], first["message"], *(f["line"] for f in first["frames"][-1:]))


def _moved(facts: Facts, copy: str, folder: str) -> Facts:
    """The same facts with the paths of the program itself in the place of its copy's."""
    here, there = (json.dumps(path)[1:-1] for path in (copy, folder))
    moved: Facts = json.loads(json.dumps(facts).replace(here, there))
    return moved
