"""Opening a case, or taking up the one that a run, or what is left of a failure, has already."""

from __future__ import annotations

import os

from firstcause.case.folder import (
    CaseFolder,
    CaseWriter,
    cases_of,
    kept_path,
    new_case_folder,
    readable_cases,
)
from firstcause.case.from_text import told_before
from firstcause.case.gate import diagnosis_hash
from firstcause.case.history import take_lock
from firstcause.case.probing import write_probes
from firstcause.case.progress import Attempt, Progress
from firstcause.case.strikeout import struck_out
from firstcause.case.symptoms import ordered, same
from firstcause.case.weighing import weighed
from firstcause.errors import InputError, RecordError
from firstcause.record.folder import RunFolder
from firstcause.schema import CASE_SCHEMA, Case, Diagnosis, Run, Symptom


def open_case(root: str, run_id: str, run_folder: str, diagnosis: Diagnosis) -> Case:
    """Store a diagnosis in the run's open case, or in a new one below ``root``, a project's .firstcause.

    A run of the same command that shows what a verified fix left over goes on with that case. A new case takes
    over the failed fixes of earlier ones for the same failure: closing a case wipes no strike out.
    The case is returned unchanged where the same diagnosis is in force already, where an applied fix still
    waits for its verification, and where it is stopped and the fix is a variation of what failed.
    Raises ``InputError`` for a healthy diagnosis, ``RecordError`` where the case cannot be written.
    """
    if diagnosis.status == "healthy" or diagnosis.symptom is None:
        raise InputError("no-symptom", f"run {run_id} shows no symptom", "a healthy run needs no case")
    run = _run(run_folder)
    lock = take_lock(cases_of(root))
    try:
        known = list(readable_cases(root))
        folder = (
            _open_case_of(known, run_id)
            or _left_over(known, run, diagnosis.symptom)
            or told_before(known, diagnosis)
        )
        inherited = () if folder else _inherited(known, run_id, run, diagnosis.symptom)
        folder = folder or new_case_folder(root, diagnosis.symptom.kind)
        kept = kept_path(root, run_folder)
        with folder.writing() as writer:
            if writer.progress is None:
                writer.append(
                    "opened",
                    id=folder.id,
                    run=run_id,
                    run_folder=kept,
                    schema=CASE_SCHEMA,
                    inherited=list(inherited),
                )
            elif writer.progress.case.run != run_id:
                symptoms = ordered([diagnosis.symptom, *(run.symptoms if run else ())])
                writer.append("continued", run=run_id, run_folder=kept, symptoms=symptoms)
            return _store(writer, folder, run, run_folder, diagnosis).case
    finally:
        os.close(lock)


def _open_case_of(known: list[tuple[CaseFolder, Progress]], run_id: str) -> CaseFolder | None:
    for folder, progress in known:
        if progress.case.run == run_id and progress.case.state != "closed":
            return folder
    return None


def _left_over(
    known: list[tuple[CaseFolder, Progress]], run: Run | None, symptom: Symptom
) -> CaseFolder | None:
    """The open case in which a verified fix left this symptom of this command over."""
    for folder, progress in known:
        after_a_fix = bool(progress.attempts) and progress.attempts[-1].passed is True
        if (
            progress.case.state == "hypotheses"
            and after_a_fix
            and any(same(tracked.symptom, symptom) for tracked in progress.remaining)
            and _same_command(run, _run(folder.run_folder()))
        ):
            return folder
    return None


def _inherited(
    known: list[tuple[CaseFolder, Progress]], run_id: str, run: Run | None, symptom: Symptom
) -> tuple[Attempt, ...]:
    """The failed fixes of earlier cases of this failure, oldest first, up to the last one that was verified."""
    found: list[Attempt] = []
    for folder, progress in known:
        first = progress.first.symptom if progress.first else None
        alike = first is not None and same(first, symptom)
        if not alike or not (progress.case.run == run_id or _same_command(run, _run(folder.run_folder()))):
            continue
        if progress.attempts and progress.attempts[-1].passed:
            break
        found += [attempt for attempt in reversed(progress.failed) if attempt not in found]
    return tuple(reversed(found))


def _same_command(one: Run | None, other: Run | None) -> bool:
    return one is not None and other is not None and one.command == other.command


def _run(folder: str) -> Run | None:
    try:
        return RunFolder(folder).run()
    except RecordError:
        # A record that was removed, or a damaged one: the case lives on without it.
        return None


def _store(
    writer: CaseWriter, folder: CaseFolder, run: Run | None, run_folder: str, diagnosis: Diagnosis
) -> Progress:
    progress = writer.progress
    assert progress is not None
    if progress.case.state == "open":
        assert diagnosis.symptom is not None
        symptoms = ordered([diagnosis.symptom, *(run.symptoms if run else ())])
        progress = writer.append("characterised", symptoms=symptoms)
    diagnosis = weighed(diagnosis, progress)
    usable = diagnosis.status == "established" and not struck_out(progress, diagnosis)
    if _keeps(progress, diagnosis, usable):
        return progress
    progress = writer.append("hypotheses", diagnosis=diagnosis)
    write_probes(folder, run_folder, diagnosis)
    if usable:
        progress = writer.append("diagnosed", diagnosis_hash=diagnosis_hash(diagnosis))
    return progress


def _keeps(progress: Progress, diagnosis: Diagnosis, usable: bool) -> bool:
    """Whether the case stays as it is although this diagnosis came."""
    case = progress.case
    if progress.applied is not None:
        # On its way into the files, waiting for its verification, or verified.
        return True
    if case.state == "stopped":
        return not usable
    same_one = case.diagnosis is not None and diagnosis_hash(case.diagnosis) == diagnosis_hash(diagnosis)
    return same_one and (case.state != "hypotheses" or not usable)
