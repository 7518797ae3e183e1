"""Opening a case, or taking up the one that a run has already."""

from __future__ import annotations

import os

from firstcause.case.approach import LIMIT, approach_of, strikes
from firstcause.case.folder import CaseFolder, CaseWriter, all_cases, cases_of, new_case_folder
from firstcause.case.gate import diagnosis_hash
from firstcause.case.history import take_lock
from firstcause.case.probing import write_probes
from firstcause.case.progress import Progress
from firstcause.errors import InputError, RecordError
from firstcause.schema import CASE_SCHEMA, Case, Diagnosis


def open_case(root: str, run_id: str, run_folder: str, diagnosis: Diagnosis) -> Case:
    """Store a diagnosis in the run's open case, or in a new one below ``root``, a project's .firstcause.

    The case is returned unchanged where the same diagnosis is in force already, where an applied fix still
    waits for its verification, and where it is stopped and the fix is a variation of what failed.
    Raises ``InputError`` for a healthy diagnosis, ``RecordError`` where the case cannot be written.
    """
    if diagnosis.status == "healthy" or diagnosis.symptom is None:
        raise InputError("no-symptom", f"run {run_id} shows no symptom", "a healthy run needs no case")
    lock = take_lock(cases_of(root))
    try:
        folder = _open_case_of(root, run_id) or new_case_folder(root, diagnosis.symptom.kind)
        with folder.writing() as writer:
            return _store(writer, folder, root, run_id, run_folder, diagnosis).case
    finally:
        os.close(lock)


def _open_case_of(root: str, run_id: str) -> CaseFolder | None:
    for folder in reversed(all_cases(root)):
        try:
            case = folder.progress().case
        except RecordError:
            # A damaged case is shown by `case list`; it must not keep a run from being worked on.
            continue
        if case.run == run_id and case.state != "closed":
            return folder
    return None


def _store(
    writer: CaseWriter, folder: CaseFolder, root: str, run_id: str, run_folder: str, diagnosis: Diagnosis
) -> Progress:
    progress = writer.progress
    if progress is None:
        kept = _kept_path(root, run_folder)
        progress = writer.append("opened", id=folder.id, run=run_id, run_folder=kept, schema=CASE_SCHEMA)
    if progress.case.state == "open":
        progress = writer.append("characterised", symptom=diagnosis.symptom)
    established = diagnosis.status == "established"
    failed = [attempt.approach for attempt in progress.failed]
    struck_out = established and strikes(approach_of(diagnosis), failed) >= LIMIT
    if _keeps(progress, diagnosis, established and not struck_out):
        return progress
    progress = writer.append("hypotheses", diagnosis=diagnosis)
    write_probes(folder, run_folder, diagnosis)
    if established and not struck_out:
        progress = writer.append("diagnosed", diagnosis_hash=diagnosis_hash(diagnosis))
    return progress


def _keeps(progress: Progress, diagnosis: Diagnosis, usable: bool) -> bool:
    """Whether the case stays as it is although this diagnosis came."""
    case = progress.case
    if case.state in ("fixed", "verified") or progress.applied is not None:
        return True
    if case.state == "stopped":
        return not usable
    same = case.diagnosis is not None and diagnosis_hash(case.diagnosis) == diagnosis_hash(diagnosis)
    return same and (case.state != "hypotheses" or not usable)


def _kept_path(root: str, run_folder: str) -> str:
    project = os.path.dirname(os.path.abspath(root))
    path = os.path.abspath(run_folder)
    inside = os.path.commonpath([project, path]) == project
    return os.path.relpath(path, project) if inside else path
