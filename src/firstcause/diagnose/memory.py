"""A run looked at for its memory alone: what grows in a sealed copy of it, who holds it, and whether that is a cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from firstcause.diagnose.pipeline import diagnose
from firstcause.lab.counterfactual import Lab
from firstcause.record.folder import RunFolder
from firstcause.record.kept_looks import KeptMemory, MemorySample
from firstcause.schema import Diagnosis
from firstcause.specialists import audits
from firstcause.specialists.growth import RELEASED, WATCHED


@dataclass(frozen=True)
class MemoryLook:
    """The diagnosis, the samples of the copy, and the growth that was found in it, empty where there was none."""

    diagnosis: Diagnosis
    samples: tuple[dict[str, Any], ...]
    growth: dict[str, Any]
    # Why no copy could be looked at; empty where one was.
    why: str = ""

    def kept(self) -> KeptMemory:
        """What of it is kept beside the record, with what was shown of the cause and what would mend it."""
        told, growth = self.diagnosis, self.growth
        chosen = next((h for h in told.hypotheses if h.cause == told.cause), None)
        site = growth.get("site") or {}
        return KeptMemory(
            samples=tuple(map(_sample, self.samples)),
            after=tuple(map(_sample, growth.get("after") or ())),
            released_at=growth.get("released_at"),
            kind=growth.get("kind") or "",
            held_by=growth.get("expression") or "",
            file=site.get("file") or "",
            line=site.get("line"),
            text=site.get("text") or "",
            bytes_a_step=growth.get("bytes_a_step"),
            full_at=growth.get("full_at"),
            cause=told.cause or "",
            evidence=tuple(e.text for e in chosen.evidence if e.supports) if chosen else (),
            fix=told.fix.summary if told.fix else "",
            does_not_fix=told.fix.does_not_fix if told.fix else "",
        )


def _sample(seen: dict[str, Any]) -> MemorySample:
    return MemorySample(seen["step"], seen["tensors"], seen["bytes"], seen["nodes"], seen["resident"])


def look(folder: RunFolder, seconds: float, capacity: int) -> MemoryLook:
    """Look once; ``capacity`` in bytes is what the process may grow to, for the step at which it would be reached."""
    labs: list[Lab] = []

    def place(failure: dict[str, Any]) -> Lab:
        lab = Lab(folder, failure, seconds, watch=WATCHED)
        # Both in one process: its start costs more than an arm of a small program.
        lab.from_start([audits.arm(lab), RELEASED], lab.horizon(audits.STEPS))
        labs.append(lab)
        return lab

    diagnosis = diagnose(folder, place)
    ran = audits.audited(labs[-1]) if labs else None
    facts = ran.facts if ran is not None else {}
    samples = tuple(facts.get("memory") or ())
    growth = dict(facts.get("growth") or {})
    why = ran.why if ran is not None and ran.ended == "lost" else ""
    return MemoryLook(diagnosis, samples, growth | reached_at(samples, capacity), why)


def reached_at(samples: tuple[dict[str, Any], ...], capacity: int) -> dict[str, Any]:
    """Bytes a step over the second half of the samples, and the step at which ``capacity`` would be reached."""
    tail = samples[len(samples) // 2 :]
    steps = tail[-1]["step"] - tail[0]["step"] if len(tail) > 1 else 0
    if not steps:
        return {}
    a_step = (tail[-1]["resident"] - tail[0]["resident"]) / steps
    left = capacity - tail[-1]["resident"]
    at = tail[-1]["step"] + int(left / a_step) if a_step > 0 and left > 0 else None
    return {"bytes_a_step": a_step, "full_at": at}
