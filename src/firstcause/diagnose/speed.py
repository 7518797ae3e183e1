"""How fast the steps of a recorded run are, where their time goes, and the one change that makes them faster, measured."""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import decode_source
from typing import Any

from firstcause.diagnose import answer
from firstcause.diagnose.suspicions import slow
from firstcause.fix.patch import parse, patched
from firstcause.lab.counterfactual import Lab
from firstcause.record.folder import RunFolder
from firstcause.record.kept_looks import KeptProfile, Share
from firstcause.schema import Diagnosis, Symptom
from firstcause.specialists import speeds
from firstcause.specialists.examination import Examination
from firstcause.specialists.performance_profiling import SPECIALIST as PERFORMANCE

SHOWN = 5


@dataclass(frozen=True)
class Profile:
    """The baseline and what was proven: seconds are processor time and asked-for waits; ``kind`` is the class.

    ``why`` says why there is no baseline; ``lines`` are the program's lines with their share of the steps' time.
    ``gain`` is the patch's own where ``with_patch``, else that of the change which proved the cause.
    """

    why: str = ""
    steps: int = 0
    step_ms: float = 0.0
    spread: float = 0.0
    parts: tuple[tuple[str, float], ...] = ()
    lines: tuple[tuple[str, float], ...] = ()
    kind: str = ""
    gain: float | None = None
    after_ms: float | None = None
    with_patch: bool = False
    diagnosis: Diagnosis | None = None
    tried: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """In plain values, without the diagnosis."""
        return {
            k: v if not isinstance(v, tuple) else list(v) for k, v in vars(self).items() if k != "diagnosis"
        }

    def kept(self) -> KeptProfile:
        """What of it is kept beside the record."""
        parts, lines = (tuple(Share(*one) for one in shares) for shares in (self.parts, self.lines))
        return KeptProfile(self.steps, self.step_ms, self.kind, parts, lines, self.gain)


KINDS = {
    "data-bound-getitem": "data",
    "rebuilt-every-step": "rebuilt each step",
    "python-loop-over-elements": "Python loop over elements",
    "sync-every-step": "values taken out in each step",
    "recompiles-every-step": "recompilation",
    "launch-bound": "many small operations",
}
NOT_SLOW = (
    f"fewer than {speeds.LEAST_STEPS} optimizer steps were seen, or all of them take less than {speeds.LEAST_SECONDS} s of "
    "processor time: too little to compare"
)


def profile(folder: RunFolder, lab: Lab) -> Profile:
    """Measure the steps of a run again, sealed, and try what its own time suggests; raises ``RecordError`` on a bad run."""
    run = folder.run()
    examination = Examination(folder, run, Symptom("invariant", ""), None, lab)
    measured = speeds.pace(examination)
    if not measured.get("stacks"):
        return Profile(str(measured.get("why") or NOT_SLOW))
    told = slow(examination)
    examination.symptom = Symptom("invariant", "; ".join(told.values()))
    settled = [PERFORMANCE.settle(h, examination) for h in PERFORMANCE.propose(examination)]
    diagnosis = answer.conclude(examination, answer.ranked(settled)) if settled else None
    established = diagnosis is not None and diagnosis.status == "established"
    parts = tuple(sorted(speeds.parts(measured).items(), key=lambda p: -p[1]))
    values = _values(diagnosis) if diagnosis is not None and established else {}
    by_patch = _by_patch(examination, diagnosis) if diagnosis is not None and established else {}
    values = {**values, **by_patch}
    rows = [r for r in speeds.lines(measured) if r["function"] != "<module>" or r["share"] < 1]
    return Profile(
        steps=measured["steps"],
        step_ms=1000 * measured["seconds"] / (measured["steps"] - 1),
        spread=measured["spread"],
        parts=parts,
        lines=tuple((_told(examination, r), r["share"]) for r in _leaves(rows)[:SHOWN]),
        kind=KINDS.get(diagnosis.cause or "", "") if diagnosis is not None and established else _kind(parts),
        gain=values.get("gain"),
        after_ms=1000 * values["after"] if "after" in values else None,
        with_patch=bool(by_patch),
        diagnosis=diagnosis if established else None,
        tried=tuple(h.missing for h in settled if h.missing),
    )


def _values(diagnosis: Diagnosis) -> dict[str, Any]:
    chosen = next(h for h in diagnosis.hypotheses if h.cause == diagnosis.cause)
    return next((e.values for e in chosen.evidence if "gain" in e.values), {})


def _by_patch(examination: Examination, diagnosis: Diagnosis) -> dict[str, Any]:
    """The pace with the patch that is offered; empty where there is none, or its steps have other losses."""
    statements = []
    for number, one in enumerate(parse(diagnosis.fix.diff) if diagnosis.fix is not None else ()):
        path = os.path.join(examination.run.folder, one.path)
        if not path.endswith(".py"):
            return {}
        with open(path, "rb") as file:
            text = decode_source(patched(one, file.read()))
        statements.append({"file": path, "number": number, "how": "patched", "text": text})
    paced = speeds.changed(examination, statements) if statements else {}
    return {k: paced[k] for k in ("gain", "after")} if paced.get("same") else {}


def _kind(parts: Sequence[tuple[str, float]]) -> str:
    """Where most of the time goes, where no change was proven: a description, no accusation."""
    name = parts[0][0] if parts else "other"
    return {"data": "data", "backward": "compute", "optimizer": "compute"}.get(
        name, "compute or the program itself"
    )


def _leaves(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines in which time is spent, and not only the calls that lead there."""
    median = statistics.median(r["outer"] for r in rows) if rows else 0
    return sorted(rows, key=lambda r: (-r["share"], -(r["outer"] >= median)))


def _told(examination: Examination, row: dict[str, Any]) -> str:
    module = examination.project.module(row["file"]) if examination.project is not None else None
    text = module.line(row["line"]) if module is not None else ""
    name = module.name if module is not None else row["file"]
    return f"{name}:{row['line']} {text}"
