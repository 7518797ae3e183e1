"""A case that begins with what somebody pasted, before there is a run, and the run that it gains."""

from __future__ import annotations

import hashlib
import os

from firstcause.case.folder import CaseFolder, cases_of, kept_path, new_case_folder, readable_cases
from firstcause.case.history import read, take_lock
from firstcause.case.progress import Progress
from firstcause.case.symptoms import SILENT, alike
from firstcause.diagnose.bounds import without_secrets
from firstcause.diagnose.from_text import diagnosis_of
from firstcause.errors import InputError, RecordError
from firstcause.record import private, redact
from firstcause.schema import CASE_SCHEMA, Case, Diagnosis
from firstcause.triage.conclude import conclude
from firstcause.triage.reading import Reading

# The text that a case began with, in its folder.
TEXT = "text.log"
# Of a longer text, which is a log, and of an archive the case keeps the lines that tell.
LARGEST = 1 << 20


def open_from_text(root: str, text: bytes, reading: Reading) -> Case:
    """Begin a case with a text below ``root``, a project's .firstcause; the same text again is the same case.

    ``text`` is its beginning, a byte more than ``LARGEST`` where it is longer, and ``reading`` what triage read of the
    whole. A run that shows what the text tells of goes on with the case when it is diagnosed.
    Raises ``InputError`` where the text tells of no symptom, ``RecordError`` where the case cannot be written.
    """
    triage = conclude(reading)
    diagnosis = diagnosis_of(reading, triage)
    if diagnosis is None or diagnosis.symptom is None:
        raise InputError(
            "no-symptom",
            "the text tells of no symptom that a run here could show",
            triage.question or triage.handover or "paste the error with its traceback",
        )
    diagnosis = without_secrets(diagnosis)
    kept = text.decode("utf-8", "replace")
    if len(text) > LARGEST or b"\0" in text:
        telling = [(one.line, f"{one.exception}: {one.message}") for one in reading.raised]
        telling += [(one.line, one.text) for one in triage.seen]
        kept = "".join(f"{line}: {said}\n" for line, said in sorted(telling))
    text = str(redact.value(kept, redact.held())).encode("utf-8", "replace")
    return _open(root, text, diagnosis)


def _open(root: str, text: bytes, diagnosis: Diagnosis) -> Case:
    assert diagnosis.symptom is not None
    sha256 = hashlib.sha256(text).hexdigest()
    lock = take_lock(cases_of(root))
    try:
        for known, progress in readable_cases(root):
            if progress.case.state != "closed" and _digest(known) == sha256:
                return progress.case
        folder = new_case_folder(root, diagnosis.symptom.kind)
        with open(folder.file(TEXT), "wb", opener=private.opener) as file:
            file.write(text)
        with folder.writing() as writer:
            writer.append(
                "opened",
                id=folder.id,
                run="",
                # What lies there is the text; the record is missing, as after one was removed.
                run_folder=kept_path(root, folder.path),
                schema=CASE_SCHEMA,
                inherited=[],
                text=sha256,
            )
            writer.append("characterised", symptoms=[diagnosis.symptom])
            return writer.append("hypotheses", diagnosis=diagnosis).case
    except OSError as error:
        message = f"{root} cannot be written: {error}"
        raise RecordError("case-unwritable", message, "free space or fix its permissions") from error
    finally:
        os.close(lock)


def told_before(known: list[tuple[CaseFolder, Progress]], diagnosis: Diagnosis) -> CaseFolder | None:
    """The newest open case that began with a text and has no run yet, where the text tells of this symptom.

    What only figures show must be among what the text made somebody suspect: many a fault looks alike.
    """
    symptom = diagnosis.symptom
    for folder, progress in known:
        believed = progress.case.diagnosis
        if progress.case.run or progress.case.state != "hypotheses" or believed is None:
            continue
        told, suspected = believed.symptom, {h.cause for h in believed.hypotheses}
        if told is None or symptom is None or not alike(told, symptom):
            continue
        if symptom.kind not in SILENT or diagnosis.cause in suspected:
            return folder
    return None


def _digest(folder: CaseFolder) -> str:
    """The sha256 of the text that a case began with; empty for one that began with a run."""
    return str(read(folder.path).events[0].data.get("text", ""))
