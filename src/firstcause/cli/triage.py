"""Say where an error, a log or a question belongs, and what to look at first.

Reads a traceback, a log (also compressed), an error file of torchrun, flight-recorder dumps, a question in your
own words, or the figures of a run (`firstcause import` makes one of a trainer's history). The exit code is 0 where
the way is clear, 3 where a question is open or the error's text is missing.
"""

from __future__ import annotations

import argparse
import io
import os
import sys

from firstcause.cli.output import look, write_json
from firstcause.errors import InputError, RecordError
from firstcause.triage.archives import shown
from firstcause.triage.read import read, read_all
from firstcause.triage.reading import Reading


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="a text, or several that belong together; - is standard input; or a run's folder or id",
    )
    parser.add_argument("--last", action="store_true", help="take what the last run here left on disk")
    parser.add_argument("--why", action="store_true", help="say what led there, and with what weight")
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing")


def main(args: argparse.Namespace) -> int:
    from firstcause.triage.conclude import conclude

    reading = _reading(args.files, args.last, args.quiet)
    triage = conclude(reading)
    if args.json:
        from firstcause.schema import to_plain

        write_json(args.json, to_plain(triage))
    if not args.quiet:
        for note in reading.notes:
            print(f"firstcause: {note}", file=sys.stderr)
        if args.json != "-":
            from firstcause.report.triage import render_triage

            color, width = look(sys.stdout)
            render_triage(triage, sys.stdout, color=color, width=width, why=args.why)
    return 0 if triage.action in ("route", "out-of-scope") else 3


def _reading(files: list[str], last: bool, quiet: bool) -> Reading:
    if last:
        if files:
            message = f"--last finds the files by itself, and {shown(files[0])} is named as well"
            raise InputError("triage-which", message, "leave out one of the two")
        return _latest(quiet)
    if (not files and sys.stdin is not None and sys.stdin.isatty()) or (
        sys.stdin is None and files in ([], ["-"])
    ):
        raise InputError(
            "triage-which", "there is nothing to read", "firstcause triage FILE, or firstcause triage --last"
        )
    if files in ([], ["-"]):
        return read(sys.stdin.buffer)
    if "-" in files:
        raise InputError("triage-which", "standard input is read alone", "name files, or - by itself")
    if len(files) == 1:
        return _of_run(files[0]) or read(files[0])
    return read_all(files)


def _of_run(name: str) -> Reading | None:
    """The figures of a run as a log; None where the name is a file's, or no run's."""
    if os.path.isfile(name):
        return None
    from firstcause.exchange.telling import told
    from firstcause.record.folder import find_run

    try:
        folder = find_run(name, os.getcwd())
    except RecordError:
        # Then it is a file that is missing, and the reader says so.
        return None
    return read(io.BytesIO(told(folder).encode()))


def _latest(quiet: bool) -> Reading:
    from firstcause.triage.latest import latest

    found = latest(os.getcwd())
    if not quiet:
        shown = ", ".join(os.path.relpath(path) for path in found.paths[:3])
        more = f" and {len(found.paths) - 3} more" if len(found.paths) > 3 else ""
        older = "1 older file lies here" if found.others == 1 else f"{found.others} older files lie here"
        others = f"; {older}" if found.others else ""
        print(f"firstcause: read {shown}{more}: {found.what}, the newest{others}", file=sys.stderr)
    return read_all(found.paths)
