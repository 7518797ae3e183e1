"""What is known from a text alone, in the form of a diagnosis: suspicions to be measured, and no cause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from firstcause.schema import SECTIONS, Diagnosis, Hypothesis, Site, Symptom, SymptomKind
from firstcause.schema.triage import Suspicion, Triage
from firstcause.triage.reading import Raised, Reading

# Patterns that tell of figures, not of an error; the kind of symptom that a run with the same would show.
_KINDS: dict[SymptomKind, tuple[str, ...]] = {
    "nan": ("nan-loss", "nan-gradient", "sampling-nan", "silent-nan-checkpoint"),
    "divergence": ("gradient-explosion",),
    "no-learning": ("no-learning", "loss-zero", "overfitting"),
    "signal": ("host-oom-killed", "segfault"),
    "invariant": (
        "codebook-collapse",
        "eval-train-gap",
        "garbage-output",
        "loss-imbalance",
        "loss-scale-wrong",
        "memory-growth",
        "nondeterminism",
        "parameters-not-registered",
        "resume-gap",
        "scheduler-order",
        "slow-training",
        "worker-memory-growth",
        "worker-seed",
        "wrong-gradient",
    ),
}
KIND_OF = {pattern: kind for kind, patterns in _KINDS.items() for pattern in patterns}
assert set(_KINDS) <= set(get_args(SymptomKind))


def diagnosis_of(reading: Reading, triage: Triage) -> Diagnosis | None:
    """What a text leaves to be measured; None where it tells of no symptom, or belongs elsewhere."""
    symptom = _symptom(reading, triage)
    if triage.action != "route" or symptom is None:
        return None
    missing = "a run: nothing was measured yet"
    sections = {
        SECTIONS[0]: f"{symptom.message}{f' ({symptom.site})' if symptom.site else ''}.",
        SECTIONS[1]: f"Not established. Missing: {missing}. {to_gather(triage)}".rstrip(),
    }
    return Diagnosis(
        "not-established", symptom, None, None, suspected(triage.suspicions), sections, None, missing
    )


def to_gather(triage: Triage) -> str:
    """The cheapest evidence to gather, a sentence each."""
    return " ".join(f"{line.rstrip('.')}." for line in triage.gather[:3])


def suspected(suspicions: Sequence[Suspicion]) -> tuple[Hypothesis, ...]:
    """The causes that a text suggests, likeliest first, each with what would tell; none of them is measured."""
    return tuple(
        Hypothesis(
            one.cause,
            None,
            rank,
            missing=f"{one.why}. For it: {one.confirms.rstrip('.')}. Against it: {one.refutes.rstrip('.')}",
        )
        for rank, one in enumerate(suspicions, 1)
    )


def _symptom(reading: Reading, triage: Triage) -> Symptom | None:
    first = triage.order[0] if triage.order else ""
    seen = next((s for s in triage.seen if s.pattern == first), None)
    raised = _raised(reading, seen.line if seen else 0)
    kind = KIND_OF.get(first)
    if raised is not None and kind is None:
        message = f"{raised.exception}: {raised.message.strip().partition(chr(10))[0]}"
        return Symptom("exception", message, _site(raised), rank=raised.rank or 0)
    if seen is None:
        return None
    return Symptom(kind or "exception", seen.text.strip(), rank=seen.rank or 0)


def _raised(reading: Reading, line: int) -> Raised | None:
    """The innermost exception of the chain that a line belongs to; the first one of the text where none does."""
    inner = [raised for raised in reading.raised if raised.cause == 0]
    return (
        min(inner, key=lambda raised: abs(raised.line - line), default=None)
        if line
        else next(iter(inner), None)
    )


def _site(raised: Raised) -> Site | None:
    own = [frame for frame in raised.frames if frame.own]
    return Site(own[-1].file, own[-1].line, own[-1].function, own[-1].source.strip()) if own else None
