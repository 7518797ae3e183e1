"""`firstcause case open`."""

from __future__ import annotations

import argparse
import io
import sys

from firstcause.case import find_case, next_step
from firstcause.case.from_text import open_from_text
from firstcause.cli.cases.place import root
from firstcause.cli.cases.show import show
from firstcause.cli.output import write_json
from firstcause.diagnose.bounds import without_secrets
from firstcause.diagnose.from_text import diagnosis_of
from firstcause.errors import InputError
from firstcause.record import redact
from firstcause.report.json_file import case_to_json
from firstcause.schema.triage import Triage
from firstcause.triage.conclude import conclude
from firstcause.triage.read import read

# A longer text is a log, of which the case keeps the lines that tell: triage finds them in logs of any size.
LARGEST = 1 << 20


def main(args: argparse.Namespace) -> int:
    """Begin a case with an error, a log or a question; a run that shows the same goes on with it."""
    if args.case in (None, "-"):
        if sys.stdin is None or sys.stdin.isatty():
            raise InputError("triage-which", "there is nothing to read", "firstcause case open FILE")
        text = sys.stdin.buffer.read()
        reading = read(io.BytesIO(text))
    else:
        reading = read(args.case)
        with open(args.case, "rb") as file:
            text = file.read(LARGEST + 1)
    triage = conclude(reading)
    diagnosis = diagnosis_of(reading, triage)
    if diagnosis is None:
        raise InputError(
            "no-symptom", "the text tells of no symptom that a run here could show", _next(triage)
        )
    if len(text) > LARGEST:
        text = "".join(f"{seen.line}: {seen.text}\n" for seen in triage.seen).encode("utf-8", "replace")
    kept = str(redact.value(text.decode("utf-8", "replace"), redact.held())).encode()
    case = open_from_text(root(), kept, without_secrets(diagnosis))
    folder = find_case(root(), case.id)
    progress = folder.progress()
    if args.json:
        write_json(args.json, case_to_json(progress, []))
    if args.json != "-":
        show(folder, progress, sys.stdout, next_step(progress))
    return 0


def _next(triage: Triage) -> str:
    return triage.question or triage.handover or "paste the error with its traceback"
