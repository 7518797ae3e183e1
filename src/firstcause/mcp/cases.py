"""The case that a call means, read from the disk each time, and where it stands in the words of an answer."""

from __future__ import annotations

import os

from firstcause.case import (
    CaseFolder,
    Progress,
    class_of,
    counsel,
    describe,
    diff_hash,
    find_case,
    probes_of,
    project_of,
)
from firstcause.case.closing import RETROSPECTIVE
from firstcause.mcp.answers import CaseAnswer, Ranked
from firstcause.mcp.order import NEEDS, STATES, allowed, following
from firstcause.mcp.refusing import Refusal
from firstcause.record.folder import HOME
from firstcause.schema import Hypothesis


def chosen(case: str) -> CaseFolder:
    """The case with this id or its beginning, else the newest open one; a path outside of the project is none."""
    return find_case(os.path.join(os.getcwd(), HOME), os.path.basename(case) or None)


def required(case: str, tool: str) -> tuple[CaseFolder, Progress]:
    """The case, where its state allows the tool; raises ``Refusal`` where it does not."""
    folder = chosen(case)
    progress = folder.progress()
    if progress.case.state not in STATES[tool]:
        message = f"case {folder.id} is {progress.case.state}, and {tool} is for {' or '.join(STATES[tool])}"
        raise Refusal("step-out-of-order", message, NEEDS[tool], following(progress))
    return folder, progress


def standing(
    folder: CaseFolder, said: str, measured: str = "", budget: float = 0.0, seconds: float = 0.0
) -> CaseAnswer:
    """Where a case stands now, read anew."""
    progress = folder.progress()
    case, diagnosis = progress.case, progress.case.diagnosis
    fix = diagnosis.fix if diagnosis else None
    return CaseAnswer(
        said=said,
        next=following(progress),
        pointers=_pointers(folder),
        seconds=round(seconds, 2),
        budget_seconds=budget,
        case=case.id,
        state=case.state,
        allowed=allowed(case.state),
        strikes=case.strikes,
        symptom=describe(diagnosis.symptom) if diagnosis else "",
        established=diagnosis is not None and diagnosis.status == "established",
        cause=(diagnosis.cause or "") if diagnosis else "",
        site=str(diagnosis.site) if diagnosis and diagnosis.site else "",
        missing=diagnosis.missing if diagnosis else "",
        hypotheses=[_ranked(h) for h in sorted(diagnosis.hypotheses, key=lambda h: h.rank)]
        if diagnosis
        else [],
        sections=dict(diagnosis.sections) if diagnosis else {},
        fix=f"{fix.summary} (class {class_of(diagnosis)})" if fix and diagnosis else "",
        diff=fix.diff if fix else "",
        diff_sha256=diff_hash(diagnosis) if fix and diagnosis else "",
        counsel=counsel(progress),
        measured=measured,
    )


def _ranked(h: Hypothesis) -> Ranked:
    return Ranked(
        cause=h.cause,
        rank=h.rank,
        status=h.status,
        site=str(h.site) if h.site else "",
        supporting=[e.text for e in h.evidence if e.supports],
        against=[e.text for e in h.evidence if not e.supports],
        missing=h.missing,
    )


def _pointers(folder: CaseFolder) -> list[str]:
    project = project_of(folder.path)
    names = ["history.jsonl", *(probe.file for probe in probes_of(folder)[:4])]
    if os.path.exists(folder.file(RETROSPECTIVE)):
        names.append(RETROSPECTIVE)
    return [os.path.relpath(folder.file(name), project) for name in names]
