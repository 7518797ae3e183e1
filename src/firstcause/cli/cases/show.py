"""`firstcause case show`."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TextIO

from firstcause.case import CaseFolder, Progress, next_step, probes_of
from firstcause.cli.cases.place import chosen, cwd_of
from firstcause.cli.output import look, source_lines, write_json
from firstcause.report.case_page import render_case
from firstcause.report.json_file import case_to_json
from firstcause.report.terminal import render_diagnosis


def main(args: argparse.Namespace) -> int:
    """Show a case and its diagnosis."""
    folder = chosen(args.case)
    progress = folder.progress()
    if args.json:
        write_json(args.json, case_to_json(progress, probes_of(folder)))
    if args.json != "-":
        show(folder, progress, sys.stdout, next_step(progress))
    return 0


def show(folder: CaseFolder, progress: Progress, out: TextIO, command: str = "") -> None:
    """Write the case, its diagnosis and the next command, if there is one to tell."""
    color, width = look(out)
    diagnosis = progress.case.diagnosis
    probes = [
        (os.path.relpath(folder.file(p.file)), f"{', '.join(p.causes)}: {p.text}") for p in probes_of(folder)
    ]
    render_case(progress, out, color, width, "" if diagnosis else command, probes)
    if diagnosis:
        out.write("\n")
        source = source_lines(diagnosis.site, cwd_of(folder))
        render_diagnosis(diagnosis, out, color, width, source, command)
