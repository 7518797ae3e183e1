"""Which of several ranks a bad value comes from: gradients are summed over all, so that each has it after the first one."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

from firstcause.lab.again import with_replay
from firstcause.lab.counterfactual import Lab
from firstcause.record.folder import RunFolder
from firstcause.schema import Symptom

Facts = dict[str, Any]
# Each further rank costs a start of the program.
MOST = 7


def replayed(
    folder: RunFolder, symptom: Symptom, failure: Facts | None, lab: Lab | None
) -> tuple[Symptom, Facts | None]:
    """The failure with its replay; of ranks, that of the first rank which makes a bad value by itself, and its symptom."""
    first = with_replay(folder, failure, lab)
    # A rank that cannot be replayed alone tells that no other can either.
    is_over = first is None or "alone" not in first or not (first.get("replay") or {}).get("exact")
    if first is None or is_over or first["kind"] != "nan" or _makes_one(first):
        return symptom, first
    others = (f for f in folder.failures() if "alone" in f and f.get("rank") != first.get("rank"))
    alike = (f for f in others if (f["kind"], f["step"]) == (first["kind"], first["step"]))
    for other in islice(alike, MOST):
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
