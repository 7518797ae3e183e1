"""The replay of a step that ran on the CPU of a machine with a card, where no fork may run backward."""

from __future__ import annotations

import json
import os
from typing import Any

from firstcause.errors import FirstcauseError
from firstcause.fix.recorded_copy import program_copied
from firstcause.lab.counterfactual import Lab
from firstcause.record.folder import RunFolder

Facts = dict[str, Any]
# What construction and the replay itself take beside the run's own time, in seconds.
BESIDE = 10.0


def replayed_without_card(folder: RunFolder, failure: Facts | None, lab: Lab | None) -> Facts | None:
    """A failure whose fork was refused, with the replay of the same failure in a copy that sees no card.

    Autograd starts threads for each card that it sees, and refuses a fork from then on, whether the program uses
    the card or not. Without one in sight the program runs from its start again and is replayed where it fails:
    graphs, arrays and objects are then the real ones, which a saved state cannot give back. The failure is handed
    back as it was where it needs none of this, there is no time, or the copy failed in another way.
    """
    if failure is None or not failure.get("refused_in_fork") or "replay" in failure:
        return failure
    run = folder.run()
    if lab is None or not lab.allowed() or lab.seconds_left < (run.seconds or 0.0) + BESIDE:
        return failure
    try:
        with program_copied(run.folder) as copy:
            ran = copy.record(run, lab.seconds_left, variables={"CUDA_VISIBLE_DEVICES": ""})
            replays = (
                _moved(f["replay"], copy.path, run.folder)
                for f in RunFolder(ran.record).failures()
                if "replay" in f and _is_same(failure, _moved(f, copy.path, run.folder))
            )
            replay = next(replays, None)
    except FirstcauseError:
        # The folder is too large for a copy, or the run left no record: the saved state is still there.
        return failure
    if replay is None or not replay.get("exact"):
        return failure
    whole = failure | {"replay": replay}
    folder.write_json(os.path.join("failures", failure["name"] + ".json"), whole)
    return whole


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
