"""`firstcause case open`."""

from __future__ import annotations

import argparse
import io
import sys

from firstcause.case import find_case, next_step
from firstcause.case.from_text import LARGEST, open_from_text
from firstcause.cli.cases.place import root
from firstcause.cli.cases.show import show
from firstcause.cli.output import write_json
from firstcause.errors import InputError
from firstcause.report.json_file import case_to_json
from firstcause.triage.read import read


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
    case = open_from_text(root(), text[: LARGEST + 1], reading)
    folder = find_case(root(), case.id)
    progress = folder.progress()
    if args.json:
        write_json(args.json, case_to_json(progress, []))
    if args.json != "-":
        show(folder, progress, sys.stdout, next_step(progress))
    return 0
