"""Which of several ranks a bad value comes from: gradients are summed over all, so that each has it after the first one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from firstcause.lab.again import with_replay
from firstcause.lab.counterfactual import Lab
from firstcause.record.folder import RunFolder
from firstcause.schema import Symptom

Facts = dict[str, Any]


def replayed(
    folder: RunFolder, symptom: Symptom, failure: Facts | None, lab: Lab | None
) -> tuple[Symptom, Facts | None]:
    """The failure with its replay; of ranks, that of the first rank which makes a bad value by itself, and its symptom."""
    first = with_replay(folder, failure, lab)
    if first is None or "alone" not in first or first["kind"] != "nan" or _makes_one(first):
        return symptom, first
    for other in folder.failures():
        alike = (other["kind"], other["step"]) == (first["kind"], first["step"])
        if alike and "alone" in other and other.get("rank") != first.get("rank"):
            found = with_replay(folder, other, lab)
            if found is not None and _makes_one(found):
                if lab is not None:
                    lab.failure = found
                return _symptom_of(folder, found, symptom), found
    return symptom, first


def _makes_one(failure: Facts) -> bool:
    replay = failure.get("replay") or {}
    return bool((replay.get("trace") or {}).get("births"))


def _symptom_of(folder: RunFolder, failure: Facts, symptom: Symptom) -> Symptom:
    own = (s for s in folder.run().symptoms if (s.step, s.rank) == (failure["step"], failure.get("rank")))
    return next(own, replace(symptom, rank=failure.get("rank", 0)))
