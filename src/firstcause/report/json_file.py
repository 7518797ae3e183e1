"""A diagnosis and a case as JSON-ready values: the shapes that `--json FILE` writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firstcause.case import Probe, Progress, class_of, diagnosis_hash, diff_hash, next_step
from firstcause.report.hypotheses import ranked
from firstcause.schema import Diagnosis, Fix, Hypothesis, to_plain


def diagnosis_to_json(diagnosis: Diagnosis) -> dict[str, Any]:
    """The diagnosis with its hypotheses by rank; numbers that JSON lacks stand as "nan", "inf" and "-inf"."""
    return {
        "status": diagnosis.status,
        "cause": diagnosis.cause,
        "site": to_plain(diagnosis.site),
        "symptom": to_plain(diagnosis.symptom),
        "hypotheses": [_hypothesis(h) for h in ranked(diagnosis.hypotheses)],
        "fix": _fix(diagnosis.fix) if diagnosis.fix else None,
        "sections": dict(diagnosis.sections),
        "missing": diagnosis.missing,
    }


def _hypothesis(hypothesis: Hypothesis) -> dict[str, Any]:
    return {
        "cause": hypothesis.cause,
        "status": hypothesis.status,
        "rank": hypothesis.rank,
        "site": to_plain(hypothesis.site),
        "evidence": [to_plain(e) for e in hypothesis.evidence],
        "missing": hypothesis.missing,
    }


def _fix(fix: Fix) -> dict[str, str]:
    return {
        "diff": fix.diff,
        "summary": fix.summary,
        "changes": fix.changes,
        "does_not_fix": fix.does_not_fix,
        "category": fix.category,
    }


def case_to_json(progress: Progress, probes: Sequence[Probe] = ()) -> dict[str, Any]:
    """The case: where it stands, its diagnosis with the hashes that an approval is bound to, its attempts."""
    case = progress.case
    return {
        "id": case.id,
        "run": case.run,
        "run_folder": progress.run_folder,
        "state": case.state,
        "opened": case.opened,
        "updated": progress.updated,
        "strikes": case.strikes,
        "class": class_of(case.diagnosis) if case.diagnosis and case.diagnosis.cause else None,
        "symptoms": to_plain(progress.symptoms),
        "diagnosis": diagnosis_to_json(case.diagnosis) if case.diagnosis else None,
        "diagnosis_hash": diagnosis_hash(case.diagnosis) if case.diagnosis else None,
        "diff_hash": diff_hash(case.diagnosis) if case.diagnosis else None,
        "approval": to_plain(progress.approval),
        "attempts": to_plain(progress.attempts),
        "rejections": to_plain(progress.rejections),
        "declined": to_plain(progress.declined),
        "inherited": to_plain(progress.inherited),
        "tries": to_plain(progress.tries),
        "probes": to_plain(tuple(probes)),
        "lesson": progress.lesson,
        "next": next_step(progress),
    }
