"""The replay of a failure together with what leads to it: in a copy of the program that is told what its unit is to be."""

from __future__ import annotations

import json

from firstcause.diagnose.copied_replay import TAKEN, Facts, failures_in_copy, keep
from firstcause.fix.recorded_copy import ProgramCopy
from firstcause.installed import is_installed
from firstcause.lab.sealed import moved
from firstcause.record.observe.stretches import KIND, PASSED_OVER, VARIABLE
from firstcause.specialists.examination import Examination
from firstcause.specialists.loading import chain


def replayed_around(examination: Examination) -> Facts | None:
    """The failure as a run saw it that replays the statements around it; None where there is no such replay.

    An evaluation or a test of a model lies outside of every step, and what it was given is made in the statements
    before the one that raised. Which those are is known only once it has failed.
    """
    raised = chain(examination)
    if examination.symptom.kind != "exception" or examination.failure.get("unit") or not raised:
        return None
    if not isinstance(raised[0], dict):
        return None
    if examination.lab is None or examination.lab.world > 1:
        # Ranks that wait for each other cannot be replayed one by one.
        return None
    own = [f for f in raised[0].get("frames") or () if f.get("file") and not is_installed(f["file"])]
    if not own:
        return None

    def told(copy: ProgramCopy) -> dict[str, str]:
        return {
            VARIABLE: json.dumps([[moved(f["file"], copy.made_of, copy.path), f.get("line")] for f in own])
        }

    failed = failures_in_copy(examination.folder, examination.lab, told)
    found = next(
        (f for f in failed if (f.get("unit") or {}).get("kind") == KIND and _is_same(f, raised[0])), None
    )
    if found is None or not (found.get("replay") or {}).get("exact"):
        return None
    # Its state went with the copy: another process finds no step to begin at.
    alone = {k: v for k, v in found.items() if k not in ("snapshot", "unit")}
    whole = alone | {"step": None, "around": True, "not_saved": "the exception lies outside of every unit"}
    keep(examination.folder, whole)
    return whole


def replayed_wider(examination: Examination) -> Facts | None:
    """The failure as a run saw it in which the function that takes the step is no unit, but the loop that calls it.

    What a function is given bad, the loop may have made a line before. None where there is no such replay.
    """
    unit = examination.failure.get("unit") or {}
    if unit.get("kind") != "function" or examination.lab is None or examination.lab.world > 1:
        return None

    def told(copy: ProgramCopy) -> dict[str, str]:
        return {
            PASSED_OVER: json.dumps([moved(str(unit.get("file")), copy.made_of, copy.path), unit.get("line")])
        }

    same = (examination.failure["kind"], examination.failure["step"])
    failed = failures_in_copy(examination.folder, examination.lab, told)
    found = next((f for f in failed if (f["kind"], f["step"]) == same and f.get("unit")), None)
    if found is None or not (found.get("replay") or {}).get("exact"):
        return None
    whole = examination.failure | {k: found[k] for k in TAKEN if k in found}
    keep(examination.folder, whole)
    return whole


def _is_same(found: Facts, raised: Facts) -> bool:
    now = found["exception"][0]
    return (now["type"], now["message"]) == (raised["type"], raised["message"])
