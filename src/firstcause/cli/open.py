"""Take the record out of a report, so that it can be shown and diagnosed as one that was made here."""

from __future__ import annotations

import argparse
import os
import shlex

from firstcause.errors import InputError

LARGEST = 3 << 30


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a file that `firstcause report` wrote")
    parser.add_argument("-o", "--output", metavar="DIR", help="default: a folder of the file's name")


def main(args: argparse.Namespace) -> int:
    """Write the runs and cases of a report below DIR/.firstcause; 0."""
    from firstcause.view.packing import unpack

    target = args.output or os.path.splitext(args.file)[0]
    try:
        if os.path.getsize(args.file) > LARGEST:
            raise InputError("report-foreign", f"{args.file} is larger than any report", "give the report")
        with open(args.file, encoding="utf-8", errors="replace") as file:
            page = file.read()
    except OSError as error:
        message = f"{args.file} cannot be read: {error.strerror}"
        raise InputError("page-unreadable", message, "give the path of the report") from error
    for name in unpack(page, target):
        print(f"{target}: {name}")
    print(f"next: cd {shlex.quote(target)} && firstcause view")
    return 0
