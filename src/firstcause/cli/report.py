"""Write a run or a case as one file that opens anywhere: page, record and diagnosis at once.

The page loads nothing from anywhere. `firstcause open FILE` takes the record out again. What was left out of it
(batches, weights, values of environment variables, the home folder's path) is listed at its end.
"""

from __future__ import annotations

import argparse
import os

from firstcause.case import CaseFolder
from firstcause.cli.extra import need
from firstcause.cli.shown import shown
from firstcause.errors import InputError
from firstcause.record import private, restore
from firstcause.record.folder import RunFolder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", nargs="?", default="last", metavar="RUN|CASE", help="default: the last run")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="default: the id, .html; with markdown standard output"
    )
    parser.add_argument(
        "--format",
        choices=["html", "markdown"],
        default="html",
        help="markdown is for a pull request; for the figures alone: firstcause export",
    )
    parser.add_argument("--full", action="store_true", help="every row of the journals, however large")
    parser.add_argument(
        "--without", action="append", default=[], choices=["sources"], help="leave out the text of your files"
    )
    parser.add_argument("-f", "--force", action="store_true", help="replace FILE")


def main(args: argparse.Namespace) -> int:
    """Write the report; 0."""
    what, _ = shown(args.what, os.getcwd())
    if args.format == "markdown":
        text = _markdown(what)
        if args.output is None:
            print(text, end="")
            return 0
    else:
        need("the report", "numpy")
        from firstcause.view.project import Project
        from firstcause.view.reporting import report

        text = report(Project(os.getcwd(), what), what, args.full, "sources" not in args.without)
    out = args.output or f"{os.path.basename(what.path)}.html"
    restore.refuse_existing(out, args.force)
    _write(out, text)
    print(f"{out}: {os.path.getsize(out) / 1000:.0f} kB")
    return 0


def _markdown(what: RunFolder | CaseFolder) -> str:
    from firstcause.report.comment import case_comment, run_comment

    return case_comment(what.progress()) if isinstance(what, CaseFolder) else run_comment(what.run())


def _write(path: str, text: str) -> None:
    temporary = f"{path}.{os.getpid()}.new"
    try:
        with open(temporary, "w", encoding="utf-8", opener=private.opener) as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        message = f"{path} cannot be written: {error.strerror}"
        raise InputError("report-unwritable", message, "choose another file with -o") from error
